"""Has pytest explain what fails in the contract of engines."""

import pytest

pytest.register_assert_rewrite("tests.support.engine_contract")
