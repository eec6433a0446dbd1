//! What was left alone while nobody may have listened: kept beside the journal until the next who
//! comes has been told.
//!
//! A guardian puts a machine back when there is nobody left to tell, and a front may be killed
//! between the answer and its reader. So whoever puts back writes these sentences down before the
//! journal goes, and they go only when it is known that they were heard.

use std::io;

use crate::files::Files;

/// Adds sentences; those that are there already are not repeated.
///
/// # Errors
/// When they cannot be made durable.
pub fn add(files: &dyn Files, sentences: &[String]) -> io::Result<()> {
    let mut known = read(files)?;
    let before = known.len();
    for sentence in sentences {
        let line = sentence.replace('\n', " ");
        if !known.contains(&line) {
            known.push(line);
        }
    }
    if known.len() == before {
        return Ok(());
    }
    files.replace_untold((known.join("\n") + "\n").as_bytes())
}

/// What nobody was told yet, in the order in which it was found.
///
/// # Errors
/// When it is there and cannot be read.
pub fn read(files: &dyn Files) -> io::Result<Vec<String>> {
    let bytes = files.read_untold()?.unwrap_or_default();
    Ok(String::from_utf8_lossy(&bytes)
        .lines()
        .map(str::to_owned)
        .collect())
}

/// Forgets them: they were heard.
///
/// # Errors
/// When they cannot be removed.
pub fn forget(files: &dyn Files) -> io::Result<()> {
    files.remove_untold()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fake::FakeMachine;

    #[test]
    fn sentences_stay_until_they_were_heard_and_none_twice() {
        let machine = FakeMachine::new(&[]);
        assert_eq!(read(&machine).unwrap(), Vec::<String>::new());
        add(&machine, &["one".to_owned(), "of two\nlines".to_owned()]).unwrap();
        add(&machine, &["one".to_owned(), "another".to_owned()]).unwrap();
        assert_eq!(read(&machine).unwrap(), ["one", "of two lines", "another"]);
        forget(&machine).unwrap();
        forget(&machine).unwrap();
        assert_eq!(read(&machine).unwrap(), Vec::<String>::new());
    }
}
