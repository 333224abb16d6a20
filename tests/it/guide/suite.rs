//! The code of `docs/src/suites.md`: a retry loop of one's own, held to what retry loops should keep.

// ANCHOR: subject
use windtunnel::env::Env;
use windtunnel_proptests::suites::{
    Operation, RetryClient, RetryFailure, RetryFeature, RetryPolicy, RetrySubject, Settings, retry_suite,
};

/// The loop under test, as the suite meets it.
struct OurRetries;

struct OurClient {
    policy: RetryPolicy,
    env: Env,
}

impl RetrySubject for OurRetries {
    type Client = OurClient;

    fn features(&self) -> Vec<RetryFeature> {
        vec![RetryFeature::Factor] // no jitter, no deadline, no Retry-After: their points do not apply
    }

    fn client(&self, policy: &RetryPolicy, env: Env) -> Result<OurClient, String> {
        Ok(OurClient { policy: policy.clone(), env })
    }
}

impl RetryClient for OurClient {
    async fn run(&self, operation: Operation) -> Result<(), RetryFailure> {
        let mut failures = 0;
        while let Err(error) = operation.call().await {
            failures += 1;
            if failures > self.policy.retries {
                return Err(error.into());
            }
            self.env.sleep(self.policy.wait(failures)).await;
        }
        Ok(())
    }
}

#[test]
fn our_retries_keep_what_retries_should() {
    let settings = Settings::default().from_environment().unwrap();
    retry_suite().run("our retries", &OurRetries, &settings).assert_kept();
}
// ANCHOR_END: subject
