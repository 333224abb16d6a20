//! A model behind HTTP/1.1 with server-sent events, spoken by hyper over the simulated network.

use std::convert::Infallible;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use http_body_util::{BodyExt, Empty, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use windtunnel_core::BoxError;
use windtunnel_sim::{EventPattern, LinkSettings, Process, World, WorldHandle};

const TOKENS: [&str; 4] = ["Ada ", "has ", "her ", "money."];

/// Answers each request with one event a token, a while apart.
async fn serve_model(process: Process) {
    let Ok(listener) = process.listen(80).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let answering = process.clone();
        let service = service_fn(move |_request: Request<Incoming>| answer(answering.clone()));
        let connection = hyper::server::conn::http1::Builder::new().serve_connection(TokioIo::new(stream), service);
        let _running = process.spawn(async move { connection.await.is_ok() });
    }
}

async fn answer(
    process: Process,
) -> Result<Response<StreamBody<impl futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>, Infallible>
{
    let tokens = stream::iter(TOKENS).then(move |token| {
        let env = process.env();
        async move {
            env.sleep(Duration::from_millis(300)).await;
            Ok(Frame::data(Bytes::from(format!("data: {token}\n\n"))))
        }
    });
    Ok(Response::new(StreamBody::new(tokens)))
}

/// Asks, and gives the tokens with the times at which they came.
async fn ask(process: &Process) -> Result<Vec<(Duration, String)>, BoxError> {
    let stream = process.connect("model", 80).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let _running = process.spawn(async move { connection.await.is_ok() });
    let request = Request::get("/v1/messages").header("host", "model").body(Empty::<Bytes>::new())?;
    let mut body = sender.send_request(request).await?.into_body();
    let mut tokens = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        let text = String::from_utf8(data.to_vec())?;
        let token = text.trim_end_matches('\n').trim_start_matches("data: ");
        tokens.push((process.env().now(), token.to_owned()));
    }
    Ok(tokens)
}

async fn begin(world: &WorldHandle) -> Process {
    let latency = Duration::from_millis(10);
    world.set_links(LinkSettings { latency_min: latency, latency_max: latency, loss: 0.0 });
    world.host("model").unwrap().start(serve_model);
    let client = world.host("client").unwrap().process();
    client.env().sleep(Duration::from_millis(1)).await;
    client
}

#[test]
fn tokens_come_when_they_are_sent() {
    let run = World::new(7).run(|world| async move { ask(&begin(&world).await).await.unwrap() });
    let tokens = run.outcome.unwrap();
    assert_eq!(tokens.iter().map(|(_, token)| token.as_str()).collect::<Vec<_>>(), TOKENS);
    let apart: Vec<_> = tokens.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).collect();
    assert_eq!(apart, [300; 3]);
}

#[test]
fn a_stream_that_is_cut_is_no_answer() {
    for (is_power_cut, at) in [(false, 700), (true, 700), (false, 350)] {
        let run = World::new(7).run(|world| async move {
            let client = begin(&world).await;
            let model = world.host("model").unwrap();
            let healing = world.host("healer").unwrap();
            let env = world.env();
            let _cutting = healing.spawn(async move {
                env.sleep(Duration::from_millis(at)).await;
                if is_power_cut {
                    model.power_cut()
                } else {
                    model.crash()
                }
                env.sleep(Duration::from_secs(5)).await;
                model.restart();
            });
            let cut = client.env().timeout(Duration::from_secs(3), Box::pin(ask(&client))).await;
            client.env().sleep(Duration::from_secs(8)).await;
            (cut.map(|asked| asked.is_ok()).ok(), ask(&client).await.unwrap().len())
        });
        // A power cut is silence; a crash breaks the connection, and hyper does not take the end for the answer's.
        let expected = if is_power_cut { None } else { Some(false) };
        assert_eq!(run.outcome.unwrap(), (expected, TOKENS.len()));
    }
}

#[test]
fn the_same_seed_speaks_the_same_http() {
    let scenario = |world: WorldHandle| async move {
        let client = begin(&world).await;
        world.set_links(LinkSettings { loss: 0.2, ..LinkSettings::default() });
        let _unused = world.at(EventPattern::any(), |_| {});
        ask(&client).await.unwrap()
    };
    for seed in 0..10 {
        let (first, second) = (World::new(seed).run(scenario), World::new(seed).run(scenario));
        assert_eq!(first.outcome.unwrap(), second.outcome.unwrap());
    }
}
