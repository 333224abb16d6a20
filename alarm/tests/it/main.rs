//! What the alarm promises of the functions of the C library.
#![cfg(all(target_os = "linux", target_env = "gnu", any(target_arch = "x86_64", target_arch = "aarch64")))]

mod calls;
mod scopes;
