//! Tests of the sources room: real databases, started here and ended here.

mod feed;
mod mariadb;
mod postgres;
mod rest;
mod servers;
mod sqlite;
