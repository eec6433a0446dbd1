//! Looking after every block without false alarms.
