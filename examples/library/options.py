"""Price a million options by Black and Scholes, and check the prices by put-call parity.

python examples/library/options.py
"""

from __future__ import annotations

import numpy as np
import weft


def main() -> None:
    rng = np.random.default_rng(5)
    spot, strike = rng.uniform(50, 150, 1_000_000), rng.uniform(50, 150, 1_000_000)
    years, rate, volatility = rng.uniform(0.1, 3, 1_000_000), 0.03, 0.25
    call, put = weft.kernels.black_scholes(spot, strike, years, rate, volatility)
    assert np.allclose(call - put, spot - strike * np.exp(-rate * years), rtol=0, atol=1e-11)

    few = slice(None, None, 10_000)
    expected = weft.kernels.black_scholes.reference(spot[few], strike[few], years[few], rate, volatility)
    assert np.allclose((call[few], put[few]), expected, rtol=0, atol=1e-11)
    print(f"{len(call):,} options: calls cost {call.mean():.2f} and puts {put.mean():.2f} on average")


if __name__ == "__main__":
    main()
