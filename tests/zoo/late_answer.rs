//! Questions one after another, over one inbox. Who waited too long asks again; the first answer, when it comes at last, is
//! taken for that of a later question.

use std::time::Duration;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use windtunnel::BoxError;
use windtunnel::sim::{Process, WorldHandle};

use super::{Animal, Breaks, Twin};

const RULE: &str = "an answer is that of its question";
const ACCOUNTS: [&str; 6] = ["Ada", "Bob", "Cid", "Dee", "Eve", "Fay"];
const PATIENCE: Duration = Duration::from_secs(2);

pub(crate) const LATE_ANSWER: Animal = Animal {
    name: "late answer",
    after: "a classic",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

/// Whose balance it is, and what the agent called the question.
struct Answer {
    question: usize,
    account: &'static str,
}

async fn scenario(world: WorldHandle, twin: Twin) {
    let agent = world.host("agent").unwrap();
    agent.start(move |process| async move {
        ask_for_all(&process, twin).await;
    });
    agent.finished().await;
}

async fn ask_for_all(process: &Process, twin: Twin) {
    let (answers, mut inbox) = unbounded_channel();
    for (question, account) in ACCOUNTS.into_iter().enumerate() {
        for _attempt in 0..3 {
            let (asking, answers) = (process.clone(), answers.clone());
            let _running = process.spawn(async move {
                if let Ok(account) = look_up(&asking, account).await {
                    let _nobody_waits = answers.send(Answer { question, account });
                }
            });
            let waiting = process.env().timeout(PATIENCE, next(&mut inbox, question, twin));
            if let Ok(Some(answer)) = waiting.await {
                process.assertions().always(RULE, answer.account == account);
                break;
            }
        }
    }
}

async fn look_up(process: &Process, account: &'static str) -> Result<&'static str, BoxError> {
    let env = process.env();
    let balance = || async {
        env.sleep(Duration::from_secs(1)).await;
        Ok(account)
    };
    process.faults().call("balance", balance).await
}

async fn next(inbox: &mut UnboundedReceiver<Answer>, question: usize, twin: Twin) -> Option<Answer> {
    loop {
        let answer = inbox.recv().await?;
        if twin == Twin::Faulty || answer.question == question {
            return Some(answer);
        }
    }
}
