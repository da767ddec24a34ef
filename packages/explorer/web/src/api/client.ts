// SPDX-License-Identifier: MIT
// The API client: sends the token, converts error responses to exceptions, and detects a lost server.

import type {
  ActionSpace, Catalogue, CostValues, Difference, Environment, Episodes, Event as Told, Export,
  Functions, Graph, ImportRequest, NewSearch, NewSession, NewTryAll, Node, ObservationValue,
  Problem, Recordings, Server, Session, Sessions, Task, Text,
} from './schema';

const KEPT = 'compiler_gym.token';

/** An error response of the server. */
export class Refused extends Error {
  constructor(
    readonly problem: Problem,
    readonly status: number,
  ) {
    super(problem.message);
  }
}

/** The server cannot be reached. */
export class Lost extends Error {
  constructor() {
    super('The server is not responding.');
  }
}

/** The token from the URL; it is removed from the address bar, so that shared links do not contain it. */
function readToken(): string {
  const address = new URL(location.href);
  const given = address.searchParams.get('token');
  if (given) {
    localStorage.setItem(KEPT, given);
    address.searchParams.delete('token');
    history.replaceState(null, '', address);
  }
  return given ?? localStorage.getItem(KEPT) ?? '';
}

const token = readToken();
let onLost: () => void = () => {};

/** Set the function to call when the server cannot be reached. */
export function whenLost(call: () => void): void {
  onLost = call;
}

type Query = Record<string, string | number | boolean | null | undefined>;

async function ask<T>(method: string, path: string, query: Query = {}, body?: unknown): Promise<T> {
  const url = new URL(path, location.origin);
  for (const [name, value] of Object.entries(query))
    if (value !== undefined && value !== null) url.searchParams.set(name, String(value));
  let answer: Response;
  try {
    const headers: Record<string, string> = { Authorization: `Bearer ${token}` };
    if (body !== undefined) headers['Content-Type'] = 'application/json';
    answer = await fetch(url, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
    if (answer.status === 204) return undefined as T;
    if (answer.ok) return (await answer.json()) as T;
  } catch {
    onLost();
    throw new Lost();
  }
  let problem: Problem;
  try {
    problem = (await answer.json()) as Problem;
  } catch {
    problem = { type: 'HTTP', message: `The server returned status ${answer.status}.`, expected: '', found: '', next: '' };
  }
  throw new Refused(problem, answer.status);
}

const of = (session: string) => `/api/sessions/${encodeURIComponent(session)}`;
const at = (session: string, node: number) => `${of(session)}/nodes/${node}`;

export const api = {
  server: () => ask<Server>('GET', '/api/server'),
  environment: (id: string) => ask<Environment>('GET', `/api/environments/${encodeURIComponent(id)}`),
  programs: (id: string, search: string, dataset?: string) =>
    ask<Catalogue>('GET', `/api/environments/${encodeURIComponent(id)}/programs`, { search, dataset, most: 60 }),
  sessions: () => ask<Sessions>('GET', '/api/sessions'),
  open: (body: Partial<NewSession>) => ask<Session>('POST', '/api/sessions', {}, body),
  session: (session: string) => ask<Session>('GET', of(session)),
  close: (session: string) => ask<void>('DELETE', of(session)),
  /** Close a session while the page is being unloaded. */
  leave: (session: string) => void fetch(of(session), { method: 'DELETE', keepalive: true, headers: { Authorization: `Bearer ${token}` } }).catch(() => {}),
  actions: (session: string, node: number) => ask<ActionSpace>('GET', `${at(session, node)}/actions`),
  step: async (session: string, parent: number, actions: unknown[]) =>
    (await ask<{ nodes: Node[] }>('POST', `${of(session)}/nodes`, {}, { parent, actions })).nodes,
  remove: (session: string, node: number) => ask<void>('DELETE', at(session, node)),
  costs: (session: string, nodes: number[], names: string[], run = false) =>
    ask<CostValues[]>('POST', `${of(session)}/costs`, {}, { nodes, names, run }),
  baselines: (session: string, cost: string, run = false) =>
    ask<Record<string, number | null>>('GET', `${of(session)}/baselines`, { cost, run }),
  functions: (session: string, node: number) => ask<Functions>('GET', `${at(session, node)}/functions`),
  text: (session: string, node: number, which: 'ir' | 'assembly', name?: string | null) =>
    ask<Text>('GET', `${at(session, node)}/${which}`, { function: name }),
  source: (session: string) => ask<Text>('GET', `${of(session)}/source`),
  difference: (session: string, a: number, b: number) =>
    ask<Difference>('GET', `${of(session)}/difference`, { a, b }),
  graph: (session: string, node: number, kind: string, name?: string | null, against?: number | null) =>
    ask<Graph>('GET', `${at(session, node)}/graphs/${encodeURIComponent(kind)}`, { function: name, against }),
  observation: (session: string, node: number, name: string, run = false) =>
    ask<ObservationValue>('GET', `${at(session, node)}/observations/${encodeURIComponent(name)}`, { run }),
  export: (session: string, node: number) => ask<Export>('GET', `${at(session, node)}/export`),
  tryAll: (session: string, body: Partial<NewTryAll>) => ask<Task>('POST', `${of(session)}/try-all`, {}, body),
  search: (session: string, body: Partial<NewSearch>) => ask<Task>('POST', `${of(session)}/search`, {}, body),
  cancel: (session: string, task: string) => ask<Task>('DELETE', `${of(session)}/tasks/${task}`),
  recordings: () => ask<Recordings>('GET', '/api/recordings'),
  read: (body: Partial<ImportRequest>) => ask<Episodes>('POST', '/api/import', {}, body),
};

const KINDS = ['nodes', 'removed', 'tried', 'progress', 'improved', 'task', 'recovered', 'closed'];

/** Call `told` for each event of a session or task; return a function that unsubscribes. */
export function listen(session: string, task: string | null, told: (event: Told) => void, ended: () => void = () => {}): () => void {
  const path = task ? `${of(session)}/tasks/${task}/events` : `${of(session)}/events`;
  const source = new EventSource(`${path}?token=${encodeURIComponent(token)}`);
  const stop = () => source.close();
  for (const kind of KINDS)
    source.addEventListener(kind, (event) => told(JSON.parse((event as MessageEvent<string>).data) as Told));
  source.addEventListener('end', () => {
    stop();
    ended();
  });
  source.addEventListener('error', () => onLost());
  return stop;
}
