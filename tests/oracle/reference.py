"""A step of backward Euler, or an equilibrium, by Newton's method in numpy: energies from the
formulas in the documentation, derivatives by complex steps, a dense Hessian by differences. It
shares no code and no table with the engine, and is as slow as it is plain.

    minimise   sum m |x - x~|^2 / (2 h^2) + sum V Psi(F(x)),   x~ = x + h v + h^2 g

over the free coordinates, with lumped masses (a quarter of each tetrahedron's to each corner).
"""

from __future__ import annotations

from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.sparse import coo_matrix
from scipy.spatial import Delaunay

Array = Any
Energy = Callable[[Array], Array]  # of stretches [3, n], maybe complex, to densities [n]


def lame(young: float, poisson: float) -> Tuple[float, float]:
    return (
        young / (2 * (1 + poisson)),
        young * poisson / ((1 + poisson) * (1 - 2 * poisson)),
    )


def neo_hookean(mu: float, lam: float) -> Energy:
    def psi(s: Array) -> Array:
        log_j = np.log(s[0] * s[1] * s[2])
        return mu / 2 * ((s**2).sum(0) - 3) - mu * log_j + lam / 2 * log_j**2

    return psi


def corotated(mu: float, lam: float) -> Energy:
    return lambda s: mu * ((s - 1) ** 2).sum(0) + lam / 2 * (s.sum(0) - 3) ** 2


def arap(mu: float, lam: float) -> Energy:
    return lambda s: mu * ((s - 1) ** 2).sum(0)


def stvk(mu: float, lam: float) -> Energy:
    def psi(s: Array) -> Array:
        e = (s**2 - 1) / 2
        return mu * (e**2).sum(0) + lam / 2 * e.sum(0) ** 2

    return psi


def stable_neo_hookean(mu: float, lam: float) -> Energy:
    m, bulk = 4 * mu / 3, lam + 5 * mu / 6

    def psi(s: Array) -> Array:
        i, j = (s**2).sum(0), s[0] * s[1] * s[2]
        return m / 2 * (i - 3 - np.log((i + 1) / 4)) - 3 * m / 4 * (j - 1) + bulk / 2 * (j - 1) ** 2

    return psi


def hencky(mu: float, lam: float) -> Energy:
    def psi(s: Array) -> Array:
        logs = np.log(s)
        return mu * (logs**2).sum(0) + lam / 2 * logs.sum(0) ** 2

    return psi


def polynomial(mu: float, lam: float) -> Energy:
    return lambda s: mu * ((s - 1) ** 4).sum(0)


def wang(s0: float, s1: float, s2: float = 0, s3: float = 0) -> Energy:
    """Wang 2016: s3 > 0 selects Fung's, otherwise s2 is Mooney and Rivlin's."""

    def psi(s: Array) -> Array:
        j = s[0] * s[1] * s[2]
        a = (s**2).sum(0) * j ** (-2 / 3)
        out = s0 * (a - 3) + s1 * (j - 1) ** 2
        if s3 > 0:
            return out + s2 * (np.exp(s3 * (a - 3)) - 1)
        squares = (s[0] * s[1]) ** 2 + (s[1] * s[2]) ** 2 + (s[2] * s[0]) ** 2
        return out + s2 * (squares * j ** (-4 / 3) - 3)

    return psi


class Straight:
    """A natural cubic spline whose ends continue straight; slopes only."""

    def __init__(self, points: Array) -> None:
        x, y = np.asarray(points, float).T
        self.first, self.last = x[0], x[-1]
        self.slopes = CubicSpline(x, y, bc_type="natural").derivative()

    def __call__(self, x: Array) -> Array:
        return self.slopes(np.clip(x, self.first, self.last))


def spline_slopes(a: Array, b: Array, c: Array) -> Energy:
    """dPsi/ds [3, n] of sum a(s_i) + sum b(s_i s_j) + c(J), free of stress at rest."""
    da, db, dc = Straight(a), Straight(b), Straight(c)
    rest = da(1.0) + 2 * db(1.0) + dc(1.0)

    def slopes(s: Array) -> Array:
        j = s[0] * s[1] * s[2]
        out = da(s) - rest
        for p in range(3):
            q, r = (p + 1) % 3, (p + 2) % 3
            out[p] += db(s[p] * s[q]) * s[q] + db(s[p] * s[r]) * s[r] + dc(j) * s[q] * s[r]
        return out

    return slopes


def by_complex_steps(psi: Energy) -> Energy:
    """dPsi/ds [3, n], to rounding."""

    def slopes(s: Array) -> Array:
        out = np.empty_like(s)
        for p in range(3):
            step = s.astype(complex)
            step[p] += 1e-30j
            out[p] = psi(step).imag / 1e-30
        return out

    return slopes


class Step:
    """One step of a mesh of tetrahedra."""

    def __init__(
        self,
        vertices: Array,
        tets: Array,
        slopes: Energy,
        density: float,
        held: Array,
        h: Optional[float] = None,
        gravity: Tuple[float, float, float] = (0, -9.81, 0),
    ) -> None:
        self.x0 = np.asarray(vertices, float)
        self.tets = np.asarray(tets)
        self.slopes, self.h = slopes, h
        edges = self.x0[self.tets[:, 1:]] - self.x0[self.tets[:, :1]]  # rows
        self.inverse = np.linalg.inv(edges.transpose(0, 2, 1))
        self.volume = np.linalg.det(edges) / 6
        assert (self.volume > 0).all()
        # A row a vertex: sums what its tetrahedra's corners have.
        corners = self.tets.ravel()
        ones = np.ones(len(corners))
        shape = len(self.x0), len(corners)
        self.sum = coo_matrix((ones, (corners, np.arange(len(corners)))), shape).tocsr()
        self.mass = self.sum @ np.repeat(density * self.volume / 4, 4)
        self.free = np.ones(len(self.x0), bool)
        self.free[held] = False
        self.gravity = np.asarray(gravity, float)

    def stretches(self, corners: Array) -> Tuple[Array, Array, Array]:
        """U, s [3, n], V^T with pure rotations, of tetrahedra with `corners` [n, 4, 3]: for an
        inverted one the smallest is negative."""
        edges = corners[:, 1:] - corners[:, :1]
        f = edges.transpose(0, 2, 1) @ self.inverse
        u, s, vt = np.linalg.svd(f)
        du, dv = np.sign(np.linalg.det(u)), np.sign(np.linalg.det(vt))
        u[:, :, 2] *= du[:, None]
        vt[:, 2] *= dv[:, None]
        s[:, 2] *= du * dv
        return u, s.T.copy(), vt

    def elastic(self, corners: Array) -> Array:
        """Derivatives [n, 4, 3] of each tetrahedron's energy by its corners."""
        u, s, vt = self.stretches(corners)
        stress = u @ (self.slopes(s).T[:, :, None] * vt) * self.volume[:, None, None]
        others = (stress @ self.inverse.transpose(0, 2, 1)).transpose(0, 2, 1)
        return np.concatenate((-others.sum(1, keepdims=True), others), 1)

    def gradient(self, x: Array, goal: Array) -> Array:
        g = self.sum @ self.elastic(x[self.tets]).reshape(-1, 3)
        if self.h is None:
            g -= self.mass[:, None] * self.gravity
        else:
            g += self.mass[:, None] * (x - goal) / self.h**2
        return g[self.free].ravel()

    def hessian(self, x: Array) -> Array:
        """Of the free coordinates; a tetrahedron's part by central differences of its own
        derivatives."""
        size = 1e-6 * np.ptp(self.x0)
        n = len(self.tets)
        blocks = np.empty((n, 12, 12))
        for k in range(12):
            there, back = x[self.tets], x[self.tets]
            there.reshape(n, 12)[:, k] += size
            back.reshape(n, 12)[:, k] -= size
            rise = self.elastic(there) - self.elastic(back)
            blocks[:, :, k] = rise.reshape(n, 12) / (2 * size)
        places = (3 * self.tets[:, :, None] + np.arange(3)).reshape(n, 12)
        rows, columns = np.repeat(places, 12, 1), np.tile(places, 12)
        whole = coo_matrix((blocks.ravel(), (rows.ravel(), columns.ravel())), (x.size, x.size))
        free = np.repeat(self.free, 3)
        hessian = whole.toarray()[np.ix_(free, free)]
        if self.h is not None:
            hessian[np.diag_indices_from(hessian)] += np.repeat(self.mass, 3)[free] / self.h**2
        return (hessian + hessian.T) / 2

    def solve(self, x: Array, v: Array) -> Array:
        """Positions at the step's end; if they are too far away, in fractions of velocity and
        gravity."""
        whole = self.gravity
        for shares in ((1.0,), (0.25, 0.5, 0.75, 1.0), (0.1 * k for k in range(1, 11))):
            at = x
            for share in shares:
                self.gravity = share * whole
                at = self._solve(x, share * v, at)
                if at is None:
                    break
            self.gravity = whole
            if at is not None:
                return at
        raise AssertionError("the reference did not converge")

    def _solve(self, x: Array, v: Array, start: Array) -> Optional[Array]:
        """Newton's method on the gradient, with shorter steps if it grows. None: no zero was
        found."""
        h = self.h or 0.0
        goal = x + h * v + h * h * self.gravity
        at = start.copy()
        g = self.gradient(at, goal)
        scale = np.abs(self.mass[:, None] * self.gravity).max() + np.abs(g).max()
        for _ in range(60):
            if np.abs(g).max() < 1e-13 * scale:
                break
            values, vectors = np.linalg.eigh(self.hessian(at))
            values = np.maximum(np.abs(values), 1e-8 * values.max())
            way = -vectors @ ((vectors.T @ g) / values)
            part, before = 1.0, np.linalg.norm(g)
            while part > 1e-6:
                trial = at.copy()
                trial[self.free] += part * way.reshape(-1, 3)
                new = self.gradient(trial, goal)
                if np.isfinite(new).all() and np.linalg.norm(new) < (1 - 1e-4 * part) * before:
                    break
                part /= 2
            else:
                break  # rounding
            at, g = trial, new
        return at if np.abs(g).max() < 1e-8 * scale else None


def irregular_mesh(
    seed: int, size: Tuple[float, float, float], cells: Tuple[int, int, int]
) -> Dict[str, Array]:
    """Delaunay tetrahedra of a grid with perturbed inner points, without slivers."""
    rng = np.random.default_rng(seed)
    axes = [np.linspace(0, s, n + 1) for s, n in zip(size, cells)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    cell = np.array(size) / np.array(cells)
    points = points + rng.uniform(-0.25, 0.25, points.shape) * cell
    tets = Delaunay(points).simplices.astype(np.int64)
    edges = points[tets[:, 1:]] - points[tets[:, :1]]
    volume = np.linalg.det(edges) / 6
    flip = volume < 0
    tets[flip] = tets[flip][:, [0, 2, 1, 3]]
    tets = tets[np.abs(volume) > 0.01 * cell.prod()]
    used = np.unique(tets)
    number = np.full(len(points), -1)
    number[used] = np.arange(len(used))
    return {"vertices": points[used], "tets": number[tets]}
