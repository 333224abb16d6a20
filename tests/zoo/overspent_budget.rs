//! Tasks that share a budget of model calls. Whether one is left is looked at before the call, and it is counted after it.

use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use windtunnel::model::{ModelRequest, ModelTransport};
use windtunnel::sim::script::ScriptedModel;
use windtunnel::sim::{Process, WorldHandle};

use super::{Animal, Breaks, Twin};

const RULE: &str = "no more calls than the budget has";
const BUDGET: u32 = 4;
const JOBS: u64 = 6;

pub(crate) const OVERSPENT_BUDGET: Animal = Animal {
    name: "overspent budget",
    after: "tower#857",
    breaks: Breaks::Rule(RULE),
    scenario: |world, twin| Box::pin(scenario(world, twin)),
};

/// The calls of one life of the agent.
#[derive(Default)]
struct Calls {
    spent: Mutex<u32>,
    made: Mutex<u32>,
}

async fn scenario(world: WorldHandle, twin: Twin) {
    let agent = world.host("agent").unwrap();
    agent.start(move |process| async move {
        run(&process, twin).await;
    });
    agent.finished().await;
}

/// A job comes every other second, and takes one.
async fn run(process: &Process, twin: Twin) {
    let env = process.env();
    let script =
        ScriptedModel::by_conversation([[ScriptedModel::says("Done.")]]).latency(env.clone(), Duration::from_secs(1));
    let model = Arc::new(process.faults().model(script));
    let calls = Arc::new(Calls::default());
    let (began, mut jobs) = (env.now(), Vec::new());
    for number in 0..JOBS {
        env.until(began + Duration::from_secs(2 * number)).await;
        let (process, model, calls) = (process.clone(), Arc::clone(&model), Arc::clone(&calls));
        jobs.push(process.clone().spawn(async move { work(&process, &*model, &calls, twin).await }));
    }
    for job in jobs {
        let _lost_or_done = job.await;
    }
}

async fn work(process: &Process, model: &impl ModelTransport, calls: &Calls, twin: Twin) {
    {
        let mut spent = calls.spent.lock();
        if *spent >= BUDGET {
            return;
        }
        if twin == Twin::Correct {
            *spent += 1;
        }
    }
    let made = {
        let mut made = calls.made.lock();
        *made += 1;
        *made
    };
    process.assertions().always(RULE, made <= BUDGET);
    let _answer = model.complete(&ModelRequest::default()).await;
    if twin == Twin::Faulty {
        *calls.spent.lock() += 1;
    }
}
