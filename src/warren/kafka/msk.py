"""Logging in to Amazon MSK: tokens of its IAM, made by Amazon's own package where it is installed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from warren.errors import SourceError

IAM = "warren.iam"
"""Among the settings of a client: how to log in. The Kafka client does not know it."""

MINTED_AS = "warren"
"""The name of the session when a role is taken on."""

Provider = Callable[[str], tuple[str, float]]


def token_provider(region: str, role_arn: str = "", profile: str = "") -> Provider:
    """What the Kafka client calls when it needs a token; gives it with the second when it runs out."""
    signer = _signer()

    def token(_: str) -> tuple[str, float]:
        if role_arn:
            made, expires_ms = signer.generate_auth_token_from_role_arn(region, role_arn, MINTED_AS)
        elif profile:
            made, expires_ms = signer.generate_auth_token_from_profile(region, profile)
        else:
            made, expires_ms = signer.generate_auth_token(region)
        return made, expires_ms / 1000

    return token


def _signer() -> Any:
    try:
        from aws_msk_iam_sasl_signer import MSKAuthTokenProvider
    except ImportError as error:
        message = "Logging in to Amazon MSK needs one more package: pip install 'warren[msk]'."
        raise SourceError(message) from error
    return MSKAuthTokenProvider
