//! What is done to prepare, as stages of actions: pure, from what is missing.

use std::collections::BTreeSet;
use std::num::NonZero;
use std::path::{Path, PathBuf};

use knobstat_lab::kernels::{Cache, Recipe};

use super::action::{Action, Found, Word};
use super::packages::Package;
use crate::trouble::Trouble;

/// The processor time that building a kernel takes, in seconds on a machine of our day.
const BUILD_SECONDS: u64 = 1_000;

/// How many lines `make` writes while it builds a kernel of ours.
const BUILD_LINES: u64 = 2_200;

const MIB: u64 = 1 << 20;

/// The room that Debian's ready-made kernel takes, packed and unpacked.
const DEBIAN_ROOM: u64 = 250 * MIB;

/// The room that the kernel source takes, packed and unpacked.
const SOURCE_ROOM: u64 = 1_900 * MIB;

/// The room that building one kernel takes.
const BUILD_ROOM: u64 = 400 * MIB;

/// A stretch of actions with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// What it does, as a person reads it while it is done.
    pub title: String,
    /// What is done, in order.
    pub actions: Vec<Action>,
    /// How many lines its programs write in all, where that is known, and how many seconds of
    /// processor time they take.
    pub length: Option<Length>,
    /// What its programs write goes into the file of this name.
    pub log: String,
}

/// How long a stage is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Length {
    /// Lines that are written.
    pub lines: u64,
    /// Seconds, when nothing else runs.
    pub seconds: u64,
}

/// Where things are put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Places {
    cache: PathBuf,
}

impl Places {
    /// In this directory of the cache.
    pub fn new(cache: &Path) -> Self {
        Self {
            cache: cache.to_owned(),
        }
    }

    /// The directory of the cache.
    pub fn cache(&self) -> &Path {
        &self.cache
    }

    /// Where the work is done: beside what it makes, so that a move finishes it.
    pub fn work(&self) -> PathBuf {
        self.cache.join("work")
    }

    /// What is held while somebody works there.
    pub fn lock(&self) -> PathBuf {
        self.cache.join("work.lock")
    }

    /// Where the kernel source is once it is unpacked.
    pub fn source(&self) -> PathBuf {
        self.work().join("linux")
    }
}

/// What is not there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Missing {
    /// Packages.
    pub packages: Vec<&'static Package>,
    /// Kernels.
    pub kernels: BTreeSet<Recipe>,
    /// Whether the kernel source is, which a build that was broken off leaves.
    pub source: bool,
}

/// What is done, and with whose rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// What needs root.
    pub as_root: Vec<Stage>,
    /// What is the user's own.
    pub as_user: Vec<Stage>,
    /// Where it is done.
    pub places: Places,
    /// The room in bytes that it takes there while it lasts.
    pub needs: u64,
    /// What is to be known beforehand.
    pub notes: Vec<String>,
}

impl Plan {
    /// The plan for kernels and packages that are missing.
    ///
    /// # Errors
    /// When a kernel cannot be built at this place.
    pub fn new(places: Places, missing: &Missing, jobs: NonZero<usize>) -> Result<Self, Trouble> {
        let Missing {
            packages, kernels, ..
        } = missing;
        let mut plan = Self {
            as_root: Vec::new(),
            as_user: Vec::new(),
            needs: 0,
            notes: Vec::new(),
            places,
        };
        if !packages.is_empty() {
            plan.as_root.push(install(packages));
        }
        if kernels.contains(&Recipe::Debian) {
            plan.needs += DEBIAN_ROOM;
            plan.as_user.push(debian(&plan.places));
        }
        let built: Vec<Recipe> = kernels
            .iter()
            .copied()
            .filter(|recipe| recipe.configuration().is_some())
            .collect();
        if !built.is_empty() {
            refuse_unbuildable(plan.places.cache())?;
            let (count, jobs) = (built.len() as u64, jobs.get() as u64);
            if missing.source {
                plan.needs += SOURCE_ROOM;
                plan.as_user.push(source(&plan.places));
            }
            plan.needs += BUILD_ROOM * count;
            plan.notes.push(format!(
                "{} built from Debian's kernel source: some {} minutes with {jobs} at a time, on processors that have nothing else to do",
                are(&built),
                (count * BUILD_SECONDS / jobs).div_ceil(60)
            ));
            for recipe in built {
                plan.as_user.push(build(&plan.places, recipe, jobs));
            }
        }
        if !plan.as_user.is_empty() {
            plan.as_user.push(tidy(&plan.places));
        }
        Ok(plan)
    }

    /// All of it as a person would type it.
    pub fn as_typed(&self) -> String {
        let mut text = String::new();
        let root = self.as_root.iter().map(|stage| (stage, " (as root)"));
        for (stage, rights) in root.chain(self.as_user.iter().map(|stage| (stage, ""))) {
            text.push_str(&format!("# {}{rights}\n", stage.title));
            for action in &stage.actions {
                text.push_str(&format!("{action}\n"));
            }
        }
        if text.is_empty() {
            text.push_str("# Nothing is missing.\n");
        }
        text
    }
}

fn are(kernels: &[Recipe]) -> String {
    let names: Vec<String> = kernels.iter().map(Recipe::to_string).collect();
    let are = if names.len() == 1 { "is" } else { "are" };
    format!("{} {are}", names.join(" and "))
}

/// The kernel's makefiles take neither blanks nor colons in a path.
fn refuse_unbuildable(cache: &Path) -> Result<(), Trouble> {
    let builds = cache
        .to_str()
        .is_some_and(|path| !path.contains(|c: char| c.is_whitespace() || c == ':'));
    if builds {
        return Ok(());
    }
    Err(Trouble::request(
        format!(
            "a kernel cannot be built in {}, because its makefiles take neither blanks nor colons in a path",
            cache.display()
        ),
        "Set XDG_CACHE_HOME to a path without them.",
    ))
}

fn run<const N: usize>(program: &'static str, arguments: [Word; N]) -> Action {
    Action::Run {
        program,
        arguments: arguments.into(),
    }
}

fn install(packages: &[&Package]) -> Stage {
    let mut arguments: Vec<Word> = ["install", "-y", "--no-install-recommends", "--no-remove"]
        .map(Word::from)
        .into();
    arguments.extend(packages.iter().map(|package| Word::from(package.name)));
    let names: Vec<&str> = packages.iter().map(|package| package.name).collect();
    Stage {
        title: format!("installing {}", names.join(", ")),
        actions: vec![
            run("apt-get", ["update".into()]),
            Action::Run {
                program: "apt-get",
                arguments,
            },
        ],
        length: None,
        log: "packages".to_owned(),
    }
}

fn debian(places: &Places) -> Stage {
    let work = places.work().join("debian");
    let unpacked = work.join("unpacked");
    let name = Recipe::Debian.to_string();
    let cache = places.cache();
    Stage {
        title: "fetching Debian's ready-made kernel".to_owned(),
        actions: vec![
            Action::Remove(work.clone()),
            Action::MakeDirectory(unpacked.clone()),
            Action::Download {
                of: "linux-image-cloud-amd64",
                beginning: "linux-image-",
                into: work.clone(),
            },
            run(
                "dpkg-deb",
                [
                    "-x".into(),
                    Found::between(&work, "linux-image-", ".deb").into(),
                    unpacked.as_path().into(),
                ],
            ),
            Action::Remove(Cache::modules_in(cache, &name)),
            Action::Move {
                from: unpacked.join("lib/modules").as_path().into(),
                to: Cache::modules_in(cache, &name),
            },
            Action::Move {
                from: Found::between(unpacked.join("boot"), "config-", "").into(),
                to: Cache::config_in(cache, &name),
            },
            // The image makes it a kernel of the cache: last, when all of it is there.
            Action::Move {
                from: Found::between(unpacked.join("boot"), "vmlinuz-", "").into(),
                to: Cache::image_in(cache, &name),
            },
        ],
        length: None,
        log: name,
    }
}

fn source(places: &Places) -> Stage {
    let work = places.work().join("source");
    Stage {
        title: "fetching Debian's kernel source".to_owned(),
        actions: vec![
            Action::Remove(work.clone()),
            Action::MakeDirectory(work.join("unpacked")),
            Action::Download {
                of: "linux-source",
                beginning: "linux-source-",
                into: work.clone(),
            },
            run(
                "dpkg-deb",
                [
                    "-x".into(),
                    Found::between(&work, "linux-source-", ".deb").into(),
                    work.as_path().into(),
                ],
            ),
            run(
                "tar",
                [
                    "-xJf".into(),
                    Found::between(work.join("usr/src"), "linux-source-", ".tar.xz").into(),
                    "-C".into(),
                    work.join("unpacked").as_path().into(),
                ],
            ),
            Action::Move {
                from: Found::between(work.join("unpacked"), "linux-source-", "").into(),
                to: places.source(),
            },
            Action::Remove(work),
        ],
        length: None,
        log: "source".to_owned(),
    }
}

fn build(places: &Places, recipe: Recipe, jobs: u64) -> Stage {
    let name = recipe.to_string();
    let (cache, work) = (places.cache(), places.work());
    let built = work.join(&name);
    let asked = work.join(format!("{name}.config"));
    let finished = built.join(".config");
    let make = |goal: &str, jobs: Option<u64>| {
        let mut arguments: Vec<Word> = vec![
            "-C".into(),
            places.source().as_path().into(),
            format!("O={}", built.display()).into(),
        ];
        arguments.extend(jobs.map(|jobs| format!("-j{jobs}").into()));
        arguments.push(goal.into());
        Action::Run {
            program: "make",
            arguments,
        }
    };
    Stage {
        title: format!("building {name}"),
        actions: vec![
            Action::MakeDirectory(built.clone()),
            Action::Write {
                path: asked.clone(),
                text: recipe.configuration().unwrap_or_default(),
            },
            make("tinyconfig", None),
            Action::Append {
                from: asked.clone(),
                to: finished.clone(),
            },
            make("olddefconfig", None),
            Action::Check {
                recipe,
                asked,
                finished: finished.clone(),
            },
            make("bzImage", Some(jobs)),
            Action::Move {
                from: finished.as_path().into(),
                to: Cache::config_in(cache, &name),
            },
            Action::Move {
                from: built.join("arch/x86/boot/bzImage").as_path().into(),
                to: Cache::image_in(cache, &name),
            },
            Action::Remove(built),
        ],
        length: Some(Length {
            lines: BUILD_LINES,
            seconds: BUILD_SECONDS / jobs,
        }),
        log: name,
    }
}

fn tidy(places: &Places) -> Stage {
    Stage {
        title: "tidying up".to_owned(),
        actions: vec![Action::Remove(places.work())],
        length: None,
        log: "tidy".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::packages;
    use super::*;

    fn plan(kernels: &[Recipe], source_is_there: bool) -> Plan {
        let missing = Missing {
            kernels: kernels.iter().copied().collect(),
            source: !source_is_there,
            ..Missing::default()
        };
        let places = Places::new(Path::new("/cache"));
        Plan::new(places, &missing, NonZero::new(2).unwrap()).unwrap()
    }

    fn titles(plan: &Plan) -> Vec<&str> {
        plan.as_user.iter().map(|stage| &*stage.title).collect()
    }

    #[test]
    fn only_what_is_missing_is_done() {
        let nothing = plan(&[], false);
        assert_eq!((nothing.as_root.len(), nothing.as_user.len()), (0, 0));
        assert_eq!(nothing.as_typed(), "# Nothing is missing.\n");
        assert_eq!(
            titles(&plan(&[Recipe::Debian], false)),
            ["fetching Debian's ready-made kernel", "tidying up"]
        );
        assert_eq!(
            titles(&plan(
                &[Recipe::TickRate(1000), Recipe::TickRate(250)],
                false
            )),
            [
                "fetching Debian's kernel source",
                "building hz250",
                "building hz1000",
                "tidying up"
            ]
        );
        assert_eq!(
            titles(&plan(&[Recipe::TickRate(1000)], true)),
            ["building hz1000", "tidying up"]
        );
    }

    #[test]
    fn packages_are_roots_business_and_never_remove_another() {
        let missing = Missing {
            packages: packages::needed(&BTreeSet::new()).collect(),
            ..Missing::default()
        };
        let places = Places::new(Path::new("/cache"));
        let plan = Plan::new(places, &missing, NonZero::<usize>::MIN).unwrap();
        assert!(plan.as_user.is_empty());
        let typed = plan.as_typed();
        assert!(
            typed.contains(
                "apt-get install -y --no-install-recommends --no-remove qemu-system-x86\n"
            ),
            "{typed}"
        );
    }

    #[test]
    fn the_image_comes_last_so_that_half_a_kernel_is_none() {
        let plan = plan(&Recipe::USUAL, false);
        for recipe in Recipe::USUAL {
            let image = Cache::image_in(Path::new("/cache"), &recipe.to_string());
            let moves: Vec<&PathBuf> = plan
                .as_user
                .iter()
                .find(|stage| stage.log == recipe.to_string())
                .unwrap()
                .actions
                .iter()
                .filter_map(|action| match action {
                    Action::Move { to, .. } => Some(to),
                    _ => None,
                })
                .collect();
            assert!(moves.len() >= 2, "{moves:?}");
            assert_eq!(moves.last(), Some(&&image), "{moves:?}");
        }
    }

    #[test]
    fn a_path_that_makefiles_cannot_take_is_refused() {
        for (path, builds) in [("/a b", false), ("/a:b", false), ("/a-b", true)] {
            let missing = Missing {
                kernels: BTreeSet::from([Recipe::TickRate(250)]),
                ..Missing::default()
            };
            let places = Places::new(Path::new(path));
            let plan = Plan::new(places, &missing, NonZero::<usize>::MIN);
            assert_eq!(plan.is_ok(), builds, "{path}");
        }
    }

    #[test]
    fn how_long_it_will_take_is_said_beforehand() {
        let notes = plan(&[Recipe::TickRate(250), Recipe::TickRate(1000)], true).notes;
        assert_eq!(
            notes,
            [
                "hz250 and hz1000 are built from Debian's kernel source: some 17 minutes with 2 at a time, on processors that have nothing else to do"
            ]
        );
    }
}
