//! Tests of the sources room: real databases, started here and ended here.

mod dbf;
mod feed;
mod feed_places;
mod mariadb;
mod postgres;
mod changes;
mod rest;
mod rest_ways;
mod servers;
mod sqlite;
mod sqlserver;
