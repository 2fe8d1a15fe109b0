"""Builds consented inquiries of invented people. Times come from the clock, as a real agent's do."""

import uuid
from datetime import UTC, datetime, timedelta


def at(minutes):
    """Now and some minutes, as the contract writes times."""
    return (datetime.now(UTC) + timedelta(minutes=minutes)).strftime("%Y-%m-%dT%H:%M:%SZ")


def lead(name, vehicle=None, **changes):
    """A lead that must be accepted; `changes` replaces members at the top."""
    request = {
        "type": "lead.submit.request",
        "customer": {
            "first_name": "Robin",
            "last_name": "Sample & Söhne",
            "email": address(name),
            "phone": "+15035550142",
            "preferred_contact": "email",
        },
        "consent": {
            "granted_at": at(-5),
            "expires_at": at(60 * 24),
            "allowed_channels": ["email"],
            "scope": ["lead_submission"],
            "consent_text": "Please send my question to this dealer, who may answer by e-mail.",
        },
        "source_agent": {"name": "Forecourt's client tests", "url": "https://agent.example/"},
        "message": "Is it still there? I would come <Saturday> & bring a trade-in.",
        "submitted_at": at(-1),
        "idempotency_key": str(uuid.uuid4()),
    }
    if vehicle is not None:
        request["vehicle_of_interest"] = vehicle
    request.update(changes)
    return request


def address(name):
    return f"buyer-{name}@mail.example"


def with_consent(request, **changes):
    return request | {"consent": request["consent"] | changes}


def of_interest(listing):
    """The members that name a listing to its dealer."""
    wanted = ("vehicle_id", "vin", "stock", "year", "make", "model", "condition")
    return {name: listing[name] for name in wanted if name in listing}
