//! Trying until it works.

use std::time::Duration;

use windtunnel::env::Env;

/// Tries again every second, for as long as it fails.
pub(crate) async fn insist<T, E, Fut>(env: &Env, mut attempt: impl FnMut() -> Fut) -> T
where
    Fut: Future<Output = Result<T, E>>,
{
    loop {
        if let Ok(value) = attempt().await {
            return value;
        }
        env.sleep(Duration::from_secs(1)).await;
    }
}
