//! Tests of the sources room: real databases, started here and ended here.

mod database_tls;
mod dbf;
mod feed;
mod feed_places;
mod mariadb;
mod postgres;
mod changes;
mod rest;
mod rest_ways;
pub(crate) mod servers;
mod sqlite;
mod sqlserver;
