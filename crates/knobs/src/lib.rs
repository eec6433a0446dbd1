//! The catalogue of a machine's settings: availability, journal, restore, guardian.
