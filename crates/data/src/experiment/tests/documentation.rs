//! `docs/experiment-file.md` has every key that the reader knows, with its default, and no other.

use super::right;

#[test]
fn the_file_with_every_key_is_right() {
    assert_eq!(right(include_str!("full.toml")).name, "everything");
}
