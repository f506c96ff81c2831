// The devices that sessions run on, with their users and the sessions that wait.

import { api } from './api.js';
import { duration, ordinal, quantity } from './format.js';
import { useLook, useOn } from './hooks.js';
import { lineOf } from './list.jsx';
import { hrefOf } from './route.js';
import './devices.css';

async function readMachine() {
    const [devices, queue, me, usage] = await Promise.all([
        api.get('/v1/devices'),
        api.get('/v1/queue?limit=500'),
        api.get('/v1/me'),
        api.get('/v1/usage'),
    ]);
    return { devices: devices.items, queue, me, usage };
}

function Meter({ label, used, others = 0, all, words }) {
    const part = (value) => `${all > 0 ? Math.min(100, (100 * value) / all) : 0}%`;
    return (
        <div class="meter">
            <span>{label}</span>
            <span class="track" role="img" aria-label={`${label}: ${words}`}>
                <span class="used" style={{ width: part(used) }} />
                <span class="others" style={{ width: part(others) }} />
            </span>
            <span class="numbers">{words}</span>
        </div>
    );
}

function Device({ device, sessions, admin, onDrain }) {
    const cpu = device.device === 'cpu';
    const here = sessions.filter(
        ({ state, resources }) =>
            state === 'running' && (cpu ? !resources?.gpu : resources?.gpu === device.device),
    );
    const foreign = device.sessions - here.length;
    return (
        <section class="device" aria-label={device.name}>
            <h2>
                {cpu ? 'Processor' : 'GPU'}{' '}
                <span class="faint">
                    {device.name}
                    {device.capability ? `, ${device.capability}` : ''}
                </span>
            </h2>
            {device.lost && <p class="bad">The driver no longer finds it.</p>}
            {device.draining && <p class="paused">Nothing more is started here; what runs goes on.</p>}
            {cpu && (
                <Meter
                    label="cores"
                    used={device.cores_used}
                    all={device.cores}
                    words={`${device.cores_used} of ${device.cores} in use`}
                />
            )}
            <Meter
                label="memory"
                used={device.memory_used}
                others={device.memory_others ?? 0}
                all={device.memory}
                words={`${quantity(device.memory_used, 'B')} of ${quantity(device.memory, 'B')} given to sessions${
                    device.memory_others ? `, ${quantity(device.memory_others, 'B')} used by others` : ''
                }`}
            />
            <ul>
                {here.map((session) => (
                    <li key={session.id}>
                        <a href={hrefOf(session.id)}>{session.name || session.id.slice(0, 8)}</a>
                        <span class="faint">
                            {' '}
                            {session.owner} · {session.resources?.cores ?? 1}{' '}
                            {(session.resources?.cores ?? 1) === 1 ? 'core' : 'cores'} ·{' '}
                        </span>
                        <span class="numbers">{lineOf(session)}</span>
                    </li>
                ))}
                {foreign > 0 && <li class="faint">{foreign} of others</li>}
                {device.sessions === 0 && <li class="faint">Nothing runs here.</li>}
            </ul>
            {admin && (
                <button type="button" onClick={() => onDrain(device)}>
                    {device.draining ? 'start sessions here again' : 'start no more sessions here'}
                </button>
            )}
        </section>
    );
}

function starts(time) {
    if (!time) return '';
    const seconds = (Date.parse(time) - Date.now()) / 1000;
    return seconds > 1 ? `; starts in about ${duration(seconds)}` : '; starts soon';
}

function Queue({ queue }) {
    const foreign = queue.queued - queue.items.length;
    return (
        <section class="device" aria-label="Queue">
            <h2>
                Queue{' '}
                <span class="faint">
                    {queue.queued} wait, {queue.checking} are being checked
                </span>
            </h2>
            <ol class="waiting">
                {queue.items.map((session) => (
                    <li key={session.id}>
                        <span class="numbers">{ordinal(session.queue.position)}</span>{' '}
                        <a href={hrefOf(session.id)}>{session.name || session.id.slice(0, 8)}</a>
                        <span class="faint">
                            {' '}
                            {session.owner}
                            {session.priority ? `, priority ${session.priority}` : ''}:{' '}
                            {session.queue.reason || session.message}
                            {starts(session.queue.estimated_start)}
                        </span>
                    </li>
                ))}
            </ol>
            {foreign > 0 && (
                <p class="faint">
                    {queue.next ? `${foreign} more wait.` : `${foreign} sessions of other users wait, too.`}
                </p>
            )}
            {queue.queued === 0 && <p class="faint">Nothing waits.</p>}
        </section>
    );
}

const LIMITS = [
    ['sessions', 'sessions that have not ended'],
    ['queued', 'waiting sessions'],
    ['running', 'running sessions'],
    ['cores', 'cores'],
    ['gpus', 'sessions on a GPU'],
    ['bytes', 'bytes of sessions', 'B'],
    ['mesh_bytes', 'bytes of meshes', 'B'],
    ['requests', 'requests per second'],
];

function Mine({ usage }) {
    const words = (value, unit) => (unit ? quantity(value, unit) : String(value));
    return (
        <section class="device" aria-label="Yours">
            <h2>Yours</h2>
            <table class="values">
                <tbody>
                    {LIMITS.filter(([key]) => usage.used[key] !== null).map(([key, label, unit]) => (
                        <tr key={key}>
                            <th scope="row">{label}</th>
                            <td class="numbers">
                                {words(usage.used[key], unit)}
                                {usage.limits[key] === null ? '' : ` of ${words(usage.limits[key], unit)}`}
                            </td>
                        </tr>
                    ))}
                    <tr>
                        <th scope="row">share of the machine</th>
                        <td class="numbers">{usage.limits.share ?? 1}</td>
                    </tr>
                </tbody>
            </table>
        </section>
    );
}

// sessions: those of the page (sessions.js).
// children: further sections of the page.
export function Devices({ sessions, children }) {
    useOn(sessions, 'change');
    const [{ value, error }, setSeen] = useLook(readMachine, []);
    const drain = async ({ device, draining }) => {
        try {
            const { items } = await api.post(
                `/v1/devices/${encodeURIComponent(device)}/${draining ? 'resume' : 'drain'}`,
            );
            setSeen((before) => ({ error: null, value: { ...before.value, devices: items } }));
        } catch (problem) {
            setSeen((before) => ({ ...before, error: problem }));
        }
    };
    return (
        <div class="devices">
            {error && (
                <p class="trouble" role="alert">
                    {error.message}
                </p>
            )}
            {value &&
                value.devices.map((device) => (
                    <Device
                        key={device.device}
                        device={device}
                        sessions={sessions.items}
                        admin={value.me.scopes.includes('admin')}
                        onDrain={drain}
                    />
                ))}
            {value && <Queue queue={value.queue} />}
            {value && <Mine usage={value.usage} />}
            {children}
        </div>
    );
}
