//! Below the seam: serves requests on the machine under test.
