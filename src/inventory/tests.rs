mod fixture;
mod oracle;
mod differential;
mod examples;
mod traversal;
mod refreshing;
