//! A cassette that stands in for a provider on a simulated host, over HTTP.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_util::rt::TokioIo;
use windtunnel_core::BoxError;
use windtunnel_fixtures::cassette::{
    Body, Cassette, End, Entry, Exchange, Frame, HttpExchange, HttpRequest, HttpResponse,
};
use windtunnel_fixtures::delivery::Delivery;
use windtunnel_fixtures::server::{ReplayOptions, ReplayServer};
use windtunnel_sim::{LinkSettings, Process, World, WorldHandle};

const EVENTS: [&str; 3] = ["data: {\"n\": 1}\n\n", "data: {\"n\": 2}\n\n", "data: [DONE]\n\n"];

/// A stream whose events came 400 ms apart.
fn cassette() -> Arc<Cassette> {
    let request = HttpRequest {
        method: "POST".to_owned(),
        path: "/v1/chat/completions".to_owned(),
        query: Vec::new(),
        headers: Vec::new(),
        body: Some(Body::Json(serde_json::json!({"stream": true}))),
    };
    let frames =
        EVENTS.iter().zip(1..).map(|(event, number)| Frame { at_us: number * 400_000, bytes: (*event).into() });
    let response = HttpResponse {
        status: 200,
        headers: vec![("content-type".to_owned(), "text/event-stream".to_owned())],
        head_us: 100_000,
        frames: frames.collect(),
        end: End::Clean,
        end_us: 1_200_000,
    };
    let exchange = Exchange::Http(HttpExchange { upstream: "openai".to_owned(), request, response });
    Arc::new(Cassette { entries: vec![Entry::new(exchange)], ..Cassette::default() })
}

async fn ask(process: &Process, body: &'static str) -> Result<(u16, Vec<(Duration, String)>), BoxError> {
    let stream = process.connect("openai", 80).await?;
    let (mut sender, connection) = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await?;
    let _running = process.spawn(async move { connection.await.is_ok() });
    let request = Request::post("/v1/chat/completions").header("host", "openai").body(Full::new(Bytes::from(body)))?;
    let response = sender.send_request(request).await?;
    let (status, mut body) = (response.status().as_u16(), response.into_body());
    let mut pieces = Vec::new();
    while let Some(frame) = body.frame().await {
        let Ok(data) = frame?.into_data() else { continue };
        pieces.push((process.env().now(), String::from_utf8(data.to_vec())?));
    }
    Ok((status, pieces))
}

/// What two requests get, and whether the cassette was asked for whole.
async fn replayed(world: WorldHandle) -> (Vec<(u16, Vec<(Duration, String)>)>, bool) {
    let latency = Duration::from_millis(10);
    world.set_links(LinkSettings { latency_min: latency, latency_max: latency, loss: 0.0 });
    let host = world.host("openai").unwrap();
    // Times as they were recorded, on the world's clock.
    let options = ReplayOptions { delivery: Delivery::default(), ..ReplayOptions::default() };
    let server = ReplayServer::new(cassette(), host.process().env(), options);
    let serving = server.clone();
    host.start(move |process: Process| {
        let server = serving.clone();
        async move {
            let Ok(listener) = process.listen(80).await else { return };
            while let Ok((stream, _)) = listener.accept().await {
                let server = server.clone();
                let _running = process.spawn(async move { server.converse(stream).await });
            }
        }
    });
    let client = world.host("client").unwrap().process();
    client.env().sleep(Duration::from_millis(1)).await;
    let first = ask(&client, "{\"stream\":true}").await.unwrap();
    let is_whole = server.finish().is_ok();
    (vec![first, ask(&client, "{\"stream\":true}").await.unwrap()], is_whole)
}

#[test]
fn a_host_gives_out_a_cassette_on_virtual_time() {
    let (replies, is_whole) = World::new(3).run(replayed).outcome.unwrap();
    assert!(is_whole);
    let (status, pieces) = &replies[0];
    assert_eq!((*status, pieces.iter().map(|(_, text)| text.as_str()).collect::<Vec<_>>()), (200, EVENTS.to_vec()));
    let apart: Vec<_> = pieces.windows(2).map(|pair| (pair[1].0 - pair[0].0).as_millis()).collect();
    assert_eq!(apart, [400; 2]);
    let (status, pieces) = &replies[1];
    assert!(*status == 500 && pieces[0].1.contains("already consumed"), "{pieces:?}");
}

#[test]
fn the_same_seed_gives_out_the_same() {
    let run = || World::new(3).run(replayed);
    let (first, second) = (run(), run());
    assert_eq!(first.digest(), second.digest());
    assert_eq!(first.outcome.unwrap(), second.outcome.unwrap());
}
