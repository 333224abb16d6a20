//! The suite for transports of models.

mod failures;
mod interrupted;
mod reading;
mod responses;
mod service;
mod subject;
mod suite;
mod trial;

pub use service::ModelService;
pub use subject::{ModelFeature, ModelTransportSubject};
pub use suite::model_transport_suite;
