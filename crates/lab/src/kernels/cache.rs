//! The cache: the directories that kernels are looked for in.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Kernel, KernelError};

/// The name of the kernel that Debian has ready-made for virtual machines.
pub const DEBIAN: &str = "debian";

const IMAGE: &str = "bzImage-";
const CONFIG: &str = "config-";
const MODULES: &str = "modules-";

/// The directories that kernels are looked for in, the first that has one wins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cache {
    directories: Vec<PathBuf>,
}

impl Cache {
    /// The cache of this user: `KNOBSTAT_KERNEL_CACHE`, which may be filled by somebody else, and
    /// then `knobstat/kernels` under the XDG cache directory. `variable` looks up the environment.
    ///
    /// # Errors
    /// When no place is known.
    pub fn locate(
        variable: impl Fn(&'static str) -> Option<OsString>,
    ) -> Result<Self, KernelError> {
        // The XDG base directory specification has relative paths ignored.
        let absolute = |name| {
            variable(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let own = absolute("XDG_CACHE_HOME")
            .or_else(|| absolute("HOME").map(|home| home.join(".cache")))
            .map(|cache| cache.join("knobstat/kernels"));
        let directories: Vec<PathBuf> = absolute("KNOBSTAT_KERNEL_CACHE")
            .into_iter()
            .chain(own)
            .collect();
        if directories.is_empty() {
            return Err(KernelError::NoPlace);
        }
        Ok(Self { directories })
    }

    /// A cache in these directories, the first that has a kernel wins.
    pub fn of(directories: impl IntoIterator<Item = PathBuf>) -> Self {
        Self {
            directories: directories.into_iter().collect(),
        }
    }

    /// The directories that are searched, in order.
    pub fn directories(&self) -> &[PathBuf] {
        &self.directories
    }

    /// Where a kernel that is made is put: the last directory, which is the user's own.
    pub fn own(&self) -> Option<&Path> {
        self.directories.last().map(PathBuf::as_path)
    }

    /// The image of a name in a directory of the cache.
    pub fn image_in(directory: &Path, name: &str) -> PathBuf {
        directory.join(format!("{IMAGE}{name}"))
    }

    /// The configuration of a name in a directory of the cache.
    pub fn config_in(directory: &Path, name: &str) -> PathBuf {
        directory.join(format!("{CONFIG}{name}"))
    }

    /// The directory of the modules of a name in a directory of the cache.
    pub fn modules_in(directory: &Path, name: &str) -> PathBuf {
        directory.join(format!("{MODULES}{name}"))
    }

    /// The kernel of a name.
    ///
    /// # Errors
    /// When there is none, or its configuration cannot be read.
    pub fn find(&self, name: &str) -> Result<Kernel, KernelError> {
        if !is_name(name) {
            return Err(KernelError::Name {
                name: name.to_owned(),
            });
        }
        match self
            .directories
            .iter()
            .find(|directory| Self::image_in(directory, name).is_file())
        {
            Some(directory) => read(directory, name),
            None => Err(KernelError::Missing {
                name: name.to_owned(),
                searched: self.directories.clone(),
                present: self.names()?,
            }),
        }
    }

    /// The kernel whose image was made last; of several of one moment, the last by name.
    ///
    /// # Errors
    /// When there is none, or the cache cannot be read.
    pub fn newest(&self) -> Result<Kernel, KernelError> {
        let mut newest: Option<(SystemTime, Kernel)> = None;
        for kernel in self.all()? {
            let written = fs::metadata(&kernel.image)
                .and_then(|file| file.modified())
                .map_err(|error| KernelError::unreadable(&kernel.image, &error))?;
            if newest.as_ref().is_none_or(|(time, _)| *time <= written) {
                newest = Some((written, kernel));
            }
        }
        newest
            .map(|(_, kernel)| kernel)
            .ok_or_else(|| KernelError::Empty {
                searched: self.directories.clone(),
            })
    }

    /// A kernel of a tick rate: one that was built for it (`hz250`), else the first by name whose
    /// configuration says so.
    ///
    /// # Errors
    /// When there is none, or the cache cannot be read.
    pub fn with_hz(&self, hz: u32) -> Result<Kernel, KernelError> {
        let built = format!("hz{hz}");
        let mut kernels: Vec<Kernel> = self.all()?;
        kernels.retain(|kernel| kernel.hz() == Some(hz));
        let chosen = kernels
            .iter()
            .position(|kernel| kernel.name == built)
            .unwrap_or(0);
        if chosen < kernels.len() {
            return Ok(kernels.swap_remove(chosen));
        }
        Err(KernelError::TickRate {
            hz,
            searched: self.directories.clone(),
            present: self.names()?,
        })
    }

    /// Every kernel, by name.
    ///
    /// # Errors
    /// When the cache cannot be read.
    pub fn all(&self) -> Result<Vec<Kernel>, KernelError> {
        self.names()?.iter().map(|name| self.find(name)).collect()
    }

    /// The names of all kernels, sorted.
    fn names(&self) -> Result<Vec<String>, KernelError> {
        let mut names = BTreeSet::new();
        for directory in &self.directories {
            let entries = match fs::read_dir(directory) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(error) => return Err(KernelError::unreadable(directory, &error)),
            };
            for entry in entries {
                let entry = entry.map_err(|error| KernelError::unreadable(directory, &error))?;
                let file = entry.file_name();
                let name = file.to_str().and_then(|file| file.strip_prefix(IMAGE));
                if let Some(name) = name.filter(|name| is_name(name))
                    && entry.path().is_file()
                {
                    names.insert(name.to_owned());
                }
            }
        }
        Ok(names.into_iter().collect())
    }
}

fn read(directory: &Path, name: &str) -> Result<Kernel, KernelError> {
    let config = Cache::config_in(directory, name);
    let config = match fs::read_to_string(&config) {
        Ok(text) => Some(text),
        Err(error) if error.kind() == ErrorKind::NotFound => None,
        Err(error) => return Err(KernelError::unreadable(&config, &error)),
    };
    let modules = Cache::modules_in(directory, name);
    Ok(Kernel {
        name: name.to_owned(),
        image: Cache::image_in(directory, name),
        config,
        modules: modules.is_dir().then_some(modules),
    })
}

/// Whether a text can be part of the name of a file, and of a command that a person types.
fn is_name(text: &str) -> bool {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"._-".contains(&byte);
    !text.is_empty() && !text.starts_with(['.', '-']) && text.bytes().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn put(directory: &Path, name: &str, hz: Option<u32>) {
        fs::create_dir_all(directory).unwrap();
        fs::write(Cache::image_in(directory, name), name).unwrap();
        if let Some(hz) = hz {
            let config = format!(
                "# CONFIG_HZ_100 is not set\nCONFIG_HZ_{hz}=y\nCONFIG_HZ={hz}\nCONFIG_LOCALVERSION=\"-x\"\n"
            );
            fs::write(Cache::config_in(directory, name), config).unwrap();
        }
    }

    fn written(path: &Path, seconds: u64) {
        let time = SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(seconds);
        fs::File::options()
            .write(true)
            .open(path)
            .unwrap()
            .set_modified(time)
            .unwrap();
    }

    #[test]
    fn the_environment_says_where_kernels_are() {
        let place = |variables: &[(&str, &str)]| {
            let variables: Vec<(String, OsString)> = variables
                .iter()
                .map(|(name, value)| ((*name).to_owned(), OsString::from(value)))
                .collect();
            Cache::locate(|wanted| {
                let found = variables.iter().find(|(name, _)| name == wanted)?;
                Some(found.1.clone())
            })
        };
        let directories = |variables: &[(&str, &str)]| {
            let cache = place(variables).unwrap();
            let paths = cache.directories().iter();
            paths
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            directories(&[("HOME", "/home/a")]),
            ["/home/a/.cache/knobstat/kernels"]
        );
        assert_eq!(
            directories(&[
                ("HOME", "/home/a"),
                ("XDG_CACHE_HOME", "/cache"),
                ("KNOBSTAT_KERNEL_CACHE", "/kernels"),
            ]),
            ["/kernels", "/cache/knobstat/kernels"]
        );
        assert_eq!(
            directories(&[("HOME", "/home/a"), ("XDG_CACHE_HOME", "relative")]),
            ["/home/a/.cache/knobstat/kernels"]
        );
        let error = place(&[]).unwrap_err();
        assert!(matches!(error, KernelError::NoPlace), "{error}");
    }

    #[test]
    fn a_kernel_comes_with_its_configuration_and_its_modules() {
        let place = tempfile::tempdir().unwrap();
        put(place.path(), "debian", Some(250));
        let modules = Cache::modules_in(place.path(), "debian").join("kernel/drivers");
        fs::create_dir_all(&modules).unwrap();
        fs::write(modules.join("acpi-cpufreq.ko"), "").unwrap();
        let kernel = Cache::of([place.path().to_owned()]).find("debian").unwrap();
        assert_eq!(kernel.image, place.path().join("bzImage-debian"));
        assert_eq!(kernel.hz(), Some(250));
        assert_eq!(kernel.option("CONFIG_LOCALVERSION"), Some("-x"));
        assert_eq!(kernel.option("CONFIG_HZ_100"), None);
        for name in ["acpi-cpufreq", "acpi_cpufreq", "acpi-cpufreq.ko"] {
            assert_eq!(
                kernel.module(name).unwrap(),
                modules.join("acpi-cpufreq.ko")
            );
        }
        let error = kernel.module("cpufreq").unwrap_err().to_string();
        assert!(error.contains("has no module \"cpufreq\" below"), "{error}");
    }

    #[test]
    fn the_first_directory_that_has_a_kernel_wins() {
        let place = tempfile::tempdir().unwrap();
        let (seed, own) = (place.path().join("seed"), place.path().join("own"));
        let cache = Cache::of([seed.clone(), own.clone()]);
        assert!(matches!(cache.newest(), Err(KernelError::Empty { .. })));
        put(&own, "hz250", Some(250));
        put(&own, "hz1000", Some(1000));
        assert_eq!(
            cache.find("hz250").unwrap().image,
            own.join("bzImage-hz250")
        );
        put(&seed, "hz250", Some(250));
        assert_eq!(
            cache.find("hz250").unwrap().image,
            seed.join("bzImage-hz250")
        );
        let names: Vec<String> = cache.all().unwrap().into_iter().map(|k| k.name).collect();
        assert_eq!(names, ["hz1000", "hz250"]);
    }

    #[test]
    fn what_is_missing_is_one_sentence_with_its_remedy() {
        let place = tempfile::tempdir().unwrap();
        put(place.path(), "hz250", Some(250));
        let cache = Cache::of([place.path().to_owned()]);
        let there = place.path().display();
        assert_eq!(
            cache.find("hz1000").unwrap_err().to_string(),
            format!(
                "there is no kernel \"hz1000\" in {there} (there: hz250); run `knobstat vm prepare hz1000`, or name the path of a kernel's image"
            )
        );
        let error = cache.find("mainline").unwrap_err().to_string();
        assert!(
            error.contains("name one that is there, or the path"),
            "{error}"
        );
        assert_eq!(
            cache.with_hz(1000).unwrap_err().to_string(),
            format!(
                "there is no kernel with 1000 ticks a second in {there} (there: hz250); run `knobstat vm prepare hz1000`"
            )
        );
        assert_eq!(
            Cache::of([place.path().join("none")])
                .newest()
                .unwrap_err()
                .to_string(),
            format!("there is no kernel in {there}/none; run `knobstat vm prepare`")
        );
    }

    #[test]
    fn a_name_never_leaves_the_cache() {
        let place = tempfile::tempdir().unwrap();
        put(place.path(), "hz250", None);
        let cache = Cache::of([place.path().join("cache")]);
        for name in ["", "../hz250", "a/b", ".hidden", "-f", "a b"] {
            let error = cache.find(name).unwrap_err();
            assert!(matches!(error, KernelError::Name { .. }), "{name}: {error}");
        }
    }

    #[test]
    fn a_kernel_built_for_a_tick_rate_goes_before_others_that_have_it() {
        let place = tempfile::tempdir().unwrap();
        let cache = Cache::of([place.path().to_owned()]);
        put(place.path(), "debian", Some(250));
        put(place.path(), "unknown", None);
        assert_eq!(cache.with_hz(250).unwrap().name, "debian");
        put(place.path(), "hz250", Some(250));
        assert_eq!(cache.with_hz(250).unwrap().name, "hz250");
        // A name promises nothing that the configuration does not hold.
        put(place.path(), "hz1000", Some(250));
        assert!(matches!(
            cache.with_hz(1000),
            Err(KernelError::TickRate { .. })
        ));
    }

    #[test]
    fn the_newest_is_what_was_made_last() {
        let place = tempfile::tempdir().unwrap();
        let cache = Cache::of([place.path().to_owned()]);
        for (name, seconds) in [("a", 20), ("b", 30), ("c", 10)] {
            put(place.path(), name, None);
            written(&Cache::image_in(place.path(), name), seconds);
        }
        assert_eq!(cache.newest().unwrap().name, "b");
        written(&Cache::image_in(place.path(), "a"), 30);
        assert_eq!(cache.newest().unwrap().name, "b");
    }
}
