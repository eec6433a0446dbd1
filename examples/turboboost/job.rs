//! Something to compile: enough generic code to keep one CPU busy for about a second.

macro_rules! layers {
    ($($name:ident $width:literal),* $(,)?) => {$(
        /// Sorts, counts and folds in a shape of its own, so that no two share machine code.
        pub fn $name(values: &[u64]) -> u64 {
            let mut sorted: Vec<[u64; $width]> = values
                .windows($width)
                .map(|window| {
                    let mut copy = [0; $width];
                    copy.copy_from_slice(window);
                    copy
                })
                .collect();
            sorted.sort();
            let mut counts = std::collections::BTreeMap::new();
            for window in &sorted {
                *counts.entry(window.iter().sum::<u64>()).or_insert(0u64) += 1;
            }
            let text = counts
                .iter()
                .map(|(sum, count)| format!("{sum}:{count}"))
                .collect::<Vec<_>>()
                .join(",");
            text.bytes().fold(0, |hash, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)))
        }
    )*};
}

layers! {
    two 2, three 3, four 4, five 5, six 6, seven 7, eight 8, nine 9, ten 10, eleven 11,
    twelve 12, thirteen 13, fourteen 14, fifteen 15,
}
