//! Part of Windtunnel.
