//! The order of a block: its boots, and the treatments of each boot.

use crate::experiment::Order;

use super::boots::BootGroup;
use super::random::Generator;

/// Puts the boots of a block, and the treatments of each, into the order in which they run.
///
/// Randomised: the boots are shuffled first, then the treatments of each boot in the order in
/// which the boots then stand, all from the one generator of the block.
pub fn arrange(groups: &mut [BootGroup], order: Order, seed: u64, block: usize) {
    match order {
        Order::AsWritten => {}
        Order::RandomizedBlocks => {
            let mut generator = Generator::of_block(seed, block);
            generator.shuffle(groups);
            for group in groups {
                generator.shuffle(&mut group.treatments);
            }
        }
    }
}
