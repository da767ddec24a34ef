# SPDX-License-Identifier: MIT
from compiler_gym_explorer.api import Api
from compiler_gym_explorer.routes import ROUTES


def test_every_route_is_served_and_every_public_method_is_a_route() -> None:
    names = {route.name for route in ROUTES}
    methods = {name for name in vars(Api) if not name.startswith("_")} - {"close"}
    assert names == methods


def test_no_two_routes_are_the_same_request() -> None:
    asked = [(route.method, route.path) for route in ROUTES]
    assert len(set(asked)) == len(asked)
    assert all(route.path.startswith("/api/") for route in ROUTES)
