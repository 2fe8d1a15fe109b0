//! What a dealer's domain says of its agent endpoints. Names only what works (AAP-047).

pub mod agent_card;
pub mod inventory_page;
pub mod llms_txt;
pub mod openapi;
pub mod poppy;
