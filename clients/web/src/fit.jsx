// A fit: the progress of its search, the best values, and the best run against the measurements.
import { number } from './format.js';
import { hrefOf } from './route.js';

const WIDTH = 300;
const HEIGHT = 160;

const PHASES = {
    sampling: 'runs the first samples',
    searching: 'searches from the best of them',
    converged: 'has converged',
    exhausted: 'has used all its runs',
    lost: 'has no run to continue from',
};

// Positions of a series' points (x, y) in its picture.
function placer(points) {
    const span = (values) => {
        const known = values.filter((v) => v !== null);
        const low = Math.min(...known);
        return [low, Math.max(...known) - low || 1];
    };
    const [x, width] = span(points.map(([at]) => at));
    const [y, height] = span(points.flatMap(([, measured, run]) => [measured, run]));
    return (px, py) => [((px - x) / width) * WIDTH, HEIGHT - ((py - y) / height) * HEIGHT];
}

function Series({ series }) {
    const place = placer(series.points);
    const line = series.points
        .filter(([, , run]) => run !== null)
        .map(([x, , run], k) => `${k ? 'L' : 'M'}${place(x, run).map((v) => v.toFixed(1)).join(' ')}`)
        .join('');
    return (
        <figure>
            <svg
                viewBox={`-6 -6 ${WIDTH + 12} ${HEIGHT + 12}`}
                role="img"
                aria-label={`${series.points.length} measured points of ${series.name}, and the best run`}
            >
                {series.points.map(([x, measured], k) => {
                    const [cx, cy] = place(x, measured);
                    return <circle key={k} class="measured" r="2.5" cx={cx} cy={cy} />;
                })}
                <path class="run" d={line} />
            </svg>
            <figcaption class="faint">
                {series.name} against {series.against}: measured, and the best run
            </figcaption>
        </figure>
    );
}

export function Fit({ sweep, residuals }) {
    const { fit, parameters } = sweep;
    const { best } = fit;
    return (
        <section class="fit" aria-label="Fit">
            <p>
                The fit {PHASES[fit.phase]}: {fit.ended} of at most {fit.evaluations} runs.
            </p>
            {best && (
                <dl>
                    {parameters.map(({ name, path }, k) => [
                        <dt key={name} title={path}>
                            {name}
                        </dt>,
                        <dd key={path}>{number(best.values[k], 5)}</dd>,
                    ])}
                    <dt title="root mean square difference, in standard deviations of the measurements">misfit</dt>
                    <dd>
                        {number(best.misfit)} in <a href={hrefOf(best.session)}>row {best.row}</a>
                    </dd>
                </dl>
            )}
            {residuals?.series.map((series, k) => (
                <Series key={k} series={series} />
            ))}
        </section>
    );
}
