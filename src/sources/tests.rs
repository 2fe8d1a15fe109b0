//! Tests of the sources room: real databases, started here and ended here.

mod mariadb;
mod postgres;
mod servers;
mod sqlite;
