// SPDX-License-Identifier: MIT
// One session: the tree of states on the server, and the sequence that is edited here.
//
// Editing the sequence moves to another path in the tree: explored states are kept, and undo
// needs no compilation.

import { SvelteMap } from 'svelte/reactivity';
import { api, listen, Lost, Refused } from '../api/client';
import type { Action, ActionSpace, Cost, Environment, Episode, Event as Told, Export, Node, Problem, Session, Shape, Source, Task, Tried } from '../api/schema';
import { said } from './forms';
import { said as sentences, signed } from './words';

const VIEWS = ['diff', 'code', 'graph', 'charts', 'try', 'search', 'tree'] as const;
export type View = (typeof VIEWS)[number];

/** One action of the sequence. */
export interface Item {
  key: number;
  action: unknown;
  name: string;
  on: boolean;
}

/** A snapshot of the sequence, for undo. */
interface Past {
  items: Item[];
  cursor: number;
}

export interface Notice {
  key: number;
  kind: 'info' | 'warning' | 'error';
  title: string;
  text: string;
}

let keys = 0;
const same = (some: Item[], others: Item[]) => some.length === others.length && some.every((one, i) => one.key === others[i]?.key && one.on === others[i].on);
const keyOf = (parent: number, action: unknown) => `${parent}|${JSON.stringify(action)}`;

export class Explored {
  id = $state('');
  readonly nodes = new SvelteMap<number, Node>();
  items = $state.raw<Item[]>([]);
  /** The index of the selected step; -1 is the original program. */
  cursor = $state(-1);
  /** The node of each item, in order; null if it is off, not computed yet, or impossible. */
  way = $state.raw<(number | null)[]>([]);
  /** The base of comparisons: the step before, the beginning, or a pinned node. */
  base = $state<'before' | 'root' | number>('before');
  busy = $state(false);
  /** Rejected actions with the reasons, until the next one is typed. */
  refused = $state.raw<{ name: string; message: string }[]>([]);
  /** The selected view; by default the code, or the diff once there are steps. */
  view = $state<View | ''>('');
  function = $state<string | null>(null);
  hideNoops = $state(false);
  cost = $state('');
  space = $state.raw<ActionSpace | null>(null);
  notices = $state.raw<Notice[]>([]);
  baselines = new SvelteMap<string, Record<string, number | null>>();
  tryTask = $state.raw<Task | null>(null);
  tried = $state.raw<Tried[]>([]);
  searchTask = $state.raw<Task | null>(null);
  searchSeen = $state.raw<Told[]>([]);
  closed = $state(false);
  mayRun = $state(false);
  private past = $state.raw<Past[]>([]);
  private future = $state.raw<Past[]>([]);
  private readonly children = new Map<string, number>();
  private stop: () => void = () => {};
  private stops: (() => void)[] = [];
  private turn: Promise<void> = Promise.resolve();
  private wanted = 0;

  constructor(
    readonly env: Environment,
    session: Session,
    readonly source: Source | null,
    readonly title: string,
  ) {
    this.take(session);
    this.cost = this.costs[0]?.name ?? '';
    this.goTo(session.at, false);
  }

  benchmark = $state('');
  reward = $state<string | null>(null);
  actionSpace = $state('');

  /** The costs to show; those that run the program only if that is permitted. */
  get costs(): Cost[] {
    return this.env.costs.filter((one) => this.mayRun || !one.runs_program);
  }
  get root(): Node | undefined {
    return this.nodes.get(0);
  }
  /** The nodes of the enabled, computed steps, after the root. */
  get path(): Node[] {
    const found: Node[] = [];
    const root = this.root;
    if (root) found.push(root);
    for (const id of this.way) {
      const node = id === null ? undefined : this.nodes.get(id);
      if (node && !node.error) found.push(node);
    }
    return found;
  }
  /** The displayed node: that of the cursor, or else the last one before. */
  get at(): number {
    return this.nodeAt(this.cursor);
  }
  get node(): Node | undefined {
    return this.nodes.get(this.at);
  }
  /** The node at the end of the sequence, whatever step is selected. */
  get tip(): number {
    return this.nodeAt(this.items.length - 1);
  }
  /** The node to compare with. */
  get against(): number {
    if (this.base === 'root') return 0;
    if (this.base === 'before') return this.node?.parent ?? 0;
    return this.nodes.has(this.base) ? this.base : 0;
  }
  get canUndo(): boolean {
    return this.past.length > 0;
  }
  get canRedo(): boolean {
    return this.future.length > 0;
  }
  /** The node with the highest reward. */
  get best(): Node | undefined {
    let found: Node | undefined;
    for (const node of this.nodes.values())
      if (!node.error && node.total !== null && (found === undefined || node.total > (found.total ?? 0))) found = node;
    return found && found.id !== 0 ? found : undefined;
  }
  get actions(): Action[] {
    return this.space?.actions ?? this.env.action_spaces.find((one) => one.name === this.actionSpace)?.actions ?? [];
  }

  /** The structure of unnamed actions. */
  get form(): Shape | null {
    return (this.space ?? this.env.action_spaces.find((one) => one.name === this.actionSpace))?.form ?? null;
  }

  nodeAt(place: number): number {
    for (let i = Math.min(place, this.way.length - 1); i >= 0; i--) {
      const id = this.way[i];
      if (id !== null && id !== undefined && !this.nodes.get(id)?.error) return id;
    }
    return 0;
  }

  // -- editing ------------------------------------------------------------------------------

  insert(actions: { action: unknown; name: string }[], place = this.cursor + 1): void {
    const fresh = actions.map(({ action, name }) => ({ key: keys++, action, name, on: true }));
    this.edit([...this.items.slice(0, place), ...fresh, ...this.items.slice(place)], place + fresh.length - 1);
  }
  replace(place: number, { action, name }: { action: unknown; name: string }): void {
    this.edit(this.items.map((item, i) => (i === place ? { key: keys++, action, name, on: true } : item)), place);
  }
  toggle(place: number): void {
    this.edit(this.items.map((item, i) => (i === place ? { ...item, on: !item.on } : item)), place);
  }
  delete(place: number): void {
    if (!this.items[place]) return;
    const items = this.items.filter((_, i) => i !== place);
    this.edit(items, Math.min(place, items.length - 1));
  }
  move(from: number, to: number): void {
    const item = this.items[from];
    if (!item || to < 0 || to >= this.items.length || from === to) return;
    const items = this.items.filter((_, i) => i !== from);
    items.splice(to, 0, item);
    this.edit(items, to);
  }
  clear(): void {
    this.edit([], -1);
  }
  undo(): void {
    this.step('past', 'future');
  }
  redo(): void {
    this.step('future', 'past');
  }
  private step(from: 'past' | 'future', to: 'past' | 'future'): void {
    const found = this[from].at(-1);
    if (!found) return;
    this[to] = [...this[to], { items: this.items, cursor: this.cursor }];
    this[from] = this[from].slice(0, -1);
    this.set(found.items, found.cursor);
  }
  private edit(items: Item[], cursor: number): void {
    this.past = [...this.past.slice(-199), { items: this.items, cursor: this.cursor }];
    this.future = [];
    this.set(items, cursor);
  }
  private set(items: Item[], cursor: number): void {
    this.items = items;
    this.cursor = cursor;
    this.walk();
    void this.sync();
  }

  /** Replace the sequence with the path to a node. */
  goTo(id: number, remember = true): void {
    const items: Item[] = [];
    for (let node = this.nodes.get(id); node && node.parent !== null; node = this.nodes.get(node.parent))
      items.unshift({ key: keys++, action: node.action, name: node.name, on: true });
    if (remember) this.edit(items, items.length - 1);
    else this.set(items, items.length - 1);
  }

  /** Find the known nodes along the sequence. */
  private walk(): string | null {
    let at: number | null = 0;
    let missing: string | null = null;
    this.way = this.items.map((item) => {
      if (!item.on || at === null) return null;
      const next = this.children.get(keyOf(at, item.action));
      const node = next === undefined ? undefined : this.nodes.get(next);
      if (!node) {
        missing ??= item.name;
        at = null;
        return null;
      }
      at = node.error || node.ended ? null : node.id;
      return node.id;
    });
    return missing;
  }

  /** Request missing nodes, one request at a time; only the latest sequence counts. */
  private sync(): Promise<void> {
    const wish = ++this.wanted;
    this.turn = this.turn.then(() => (wish === this.wanted ? this.reach() : undefined));
    return this.turn;
  }
  private async reach(): Promise<void> {
    let most = Infinity;
    while (this.walk() !== null && !this.closed) {
      const [parent, rest] = this.missing(most);
      this.busy = true;
      try {
        this.met(rest, await api.step(this.id, parent, rest.map((item) => item.action)));
      } catch (error) {
        const refused = error instanceof Refused && error.status < 500 && error.status !== 404 ? error : null;
        if (refused && rest.length > 1) {
          most = 1; // One at a time, to find the action that fails.
          continue;
        }
        if (!refused || !rest[0]) {
          this.report(error);
          break;
        }
        this.refused = [...this.refused, { name: rest[0].name, message: sentences(refused.problem) }];
        this.forgo(rest[0]);
      } finally {
        this.busy = false;
      }
    }
    this.walk();
    void this.measure();
  }
  /** The last known node of the sequence, and at most `most` of the following actions. */
  private missing(most: number): [number, Item[]] {
    let parent = 0;
    const rest: Item[] = [];
    this.items.forEach((item, i) => {
      if (!item.on) return;
      const id = this.way[i];
      if (id !== null && id !== undefined && rest.length === 0) parent = id;
      else rest.push(item);
    });
    return [parent, rest.slice(0, most)];
  }
  private met(asked: Item[], nodes: Node[]): void {
    const named = new Map<number, Item>();
    nodes.forEach((node, i) => {
      const item = asked[i];
      this.add(node);
      const name = this.nodes.get(node.id)?.name ?? node.name;
      if (item && (item.name !== name || JSON.stringify(item.action) !== JSON.stringify(node.action)))
        named.set(item.key, { ...item, action: node.action, name });
    });
    if (named.size) this.items = this.items.map((item) => named.get(item.key) ?? item);
    const failed = nodes.at(-1);
    if (failed?.error) this.tell('error', `${failed.name} failed`, failed.error);
  }
  /** Remove an invalid action from the sequence and from the undo history. */
  private forgo(gone: Item): void {
    const place = this.items.findIndex((one) => one.key === gone.key);
    const without = (items: Item[]) => items.filter((one) => one.key !== gone.key);
    const last = this.past.at(-1);
    this.items = without(this.items);
    if (this.cursor >= place) this.cursor -= 1;
    this.past = this.past.map((one) => ({ ...one, items: without(one.items) }));
    if (last && same(this.past.at(-1)?.items ?? [], this.items)) this.past = this.past.slice(0, -1);
  }

  // -- server events --------------------------------------------------------------------------

  private take(session: Session): void {
    this.id = session.id;
    this.benchmark = session.benchmark;
    this.reward = session.reward;
    this.actionSpace = session.action_space;
    this.mayRun = session.runs_allowed;
    this.nodes.clear();
    this.children.clear();
    for (const node of session.nodes) this.add(node);
  }
  private add(node: Node): void {
    const known = this.nodes.get(node.id);
    const name = this.form && node.parent !== null && typeof node.action === 'object' ? said(this.form, node.action) : node.name;
    this.nodes.set(node.id, { ...node, name, costs: { ...known?.costs, ...node.costs } });
    if (node.parent !== null) this.children.set(keyOf(node.parent, node.action), node.id);
  }
  private forget(id: number): void {
    const node = this.nodes.get(id);
    if (!node) return;
    this.nodes.delete(id);
    if (node.parent !== null && this.children.get(keyOf(node.parent, node.action)) === id)
      this.children.delete(keyOf(node.parent, node.action));
  }

  /** Subscribe to events while the session is displayed. */
  follow(): () => void {
    this.stop();
    this.stop = listen(this.id, null, (event) => this.heard(event), () => {
      // The stream ended: this request detects whether the server is gone.
      for (const wait of [300, 2500, 6000]) setTimeout(() => void api.server().catch(() => {}), wait);
    });
    return () => this.stop();
  }
  private heard(event: Told): void {
    if (event.kind === 'nodes') for (const node of event.nodes ?? []) this.add(node);
    if (event.kind === 'removed' && event.node != null) this.forget(event.node);
    if (event.kind === 'recovered')
      this.tell('warning', 'A compiler process was lost', event.problem, 'Its states were restored; nothing was lost.');
    if (event.kind === 'closed') {
      this.closed = true;
      this.stop();
    }
    if (event.kind === 'nodes' || event.kind === 'removed') this.walk();
  }

  /** Measure the costs that steps do not report, for the states of the sequence. */
  async measure(): Promise<void> {
    const names = this.costs.filter((one) => !one.at_once && one.name === this.cost).map((one) => one.name);
    if (!names.length || this.closed) return;
    const wish = this.wanted;
    for (const node of this.path) {
      if (wish !== this.wanted) return;
      const missing = names.filter((name) => !(name in (this.nodes.get(node.id)?.costs ?? {})));
      if (!missing.length) continue;
      const twin = node.changed || node.parent === null ? undefined : this.nodes.get(node.parent);
      const known = twin && missing.every((name) => name in twin.costs);
      try {
        const found = known
          ? Object.fromEntries(missing.map((name) => [name, twin.costs[name] ?? null]))
          : (await api.costs(this.id, [node.id], missing))[0]?.costs ?? {};
        const now = this.nodes.get(node.id);
        const values = Object.fromEntries(missing.map((name) => [name, found[name] ?? Number.NaN]));
        if (now) this.nodes.set(node.id, { ...now, costs: { ...now.costs, ...values } });
      } catch (error) {
        if (!(error instanceof Lost)) this.report(error);
        return;
      }
    }
    await this.wantBaselines(this.cost);
  }
  async wantBaselines(cost: string): Promise<void> {
    if (!cost || this.baselines.has(cost)) return;
    this.baselines.set(cost, {});
    try {
      this.baselines.set(cost, await api.baselines(this.id, cost));
    } catch (error) {
      if (!(error instanceof Refused)) this.baselines.delete(cost);
    }
  }
  async wantActions(): Promise<void> {
    try {
      this.space = await api.actions(this.id, this.at);
    } catch {
      this.space = null;
    }
  }

  async removeBranch(id: number): Promise<void> {
    try {
      const parent = this.nodes.get(id)?.parent ?? 0;
      const passes = this.way.includes(id);
      await api.remove(this.id, id);
      this.forget(id);
      if (passes) this.goTo(parent);
      this.past = [];
      this.future = [];
    } catch (error) {
      this.report(error);
    }
  }

  // -- tasks ---------------------------------------------------------------------------------

  async tryAll(): Promise<void> {
    this.tried = [];
    let waiting: Tried[] = [];
    let timer = 0;
    const show = () => {
      this.tried = [...this.tried, ...waiting];
      waiting = [];
      timer = 0;
    };
    try {
      const task = await api.tryAll(this.id, { node: this.at });
      this.tryTask = task;
      this.stops.push(
        listen(this.id, task.id, (event) => {
          if (this.tryTask?.id !== task.id) return;
          // Many events arrive at once: update the page only a few times per second.
          waiting.push(...(event.tried ?? []));
          timer ||= window.setTimeout(show, 120);
          if (event.kind === 'task' && event.task) {
            this.tryTask = event.task;
            if (event.problem) this.tell('error', 'Trying all actions failed', event.problem);
          }
        }, show),
      );
    } catch (error) {
      this.report(error);
    }
  }
  async search(method: string, seconds: number, seed: number): Promise<void> {
    this.searchSeen = [];
    try {
      const task = await api.search(this.id, { node: this.at, method, seconds, seed });
      this.searchTask = task;
      this.stops.push(
        listen(this.id, task.id, (event) => {
          if (this.searchTask?.id !== task.id) return;
          for (const node of event.nodes ?? []) this.add(node);
          if (event.kind === 'task' && event.task) {
            this.searchTask = event.task;
            if (event.problem) this.tell('error', 'The search failed', event.problem);
          } else this.searchSeen = [...this.searchSeen, event];
        }),
      );
    } catch (error) {
      this.report(error);
    }
  }
  async cancel(task: Task | null): Promise<void> {
    try {
      if (task) await api.cancel(this.id, task.id);
    } catch (error) {
      this.report(error);
    }
  }

  // -- lifetime --------------------------------------------------------------------------------

  /** The episode that reproduces the current state, without a request. */
  get episode(): Partial<Episode> {
    const actions = this.path.slice(1).map((node) => (typeof node.action === 'number' ? node.name : node.action));
    return {
      environment: this.env.id,
      ...(this.source ? { source: this.source } : { benchmark: this.benchmark }),
      action_space: this.actionSpace,
      reward_space: this.reward,
      actions,
    };
  }
  /** The settings of the page that a URL contains in addition to the episode. */
  get shown(): string {
    const depth = this.node?.depth ?? 0;
    const said = new URLSearchParams();
    if (depth < this.path.length - 1) said.set('step', String(depth));
    if (this.view) said.set('view', this.view);
    if (this.function) said.set('function', this.function);
    const text = said.toString();
    return text && `&${text}`;
  }
  /** Apply the settings of a URL. */
  show(said: URLSearchParams): void {
    const step = Number(said.get('step') ?? this.items.length);
    if (Number.isInteger(step)) this.cursor = Math.max(-1, Math.min(step, this.items.length) - 1);
    this.view = VIEWS.find((one) => one === said.get('view')) ?? this.view;
    this.function = said.get('function') ?? this.function;
  }
  export(): Promise<Export> {
    return api.export(this.id, this.at);
  }
  /** Refresh after a lost connection; reopen the session if the server no longer has it. */
  async recover(): Promise<'kept' | 'opened'> {
    const { items, cursor } = this;
    let how: 'kept' | 'opened' = 'kept';
    try {
      this.take(await api.session(this.id));
    } catch (error) {
      if (!(error instanceof Refused) || error.status !== 404) throw error;
      const { environment, benchmark, source, action_space, reward_space } = this.episode;
      this.take(await api.open({ environment, benchmark, source, action_space, reward: reward_space, run: this.mayRun }));
      this.tryTask = this.searchTask = null;
      how = 'opened';
    }
    this.closed = false;
    this.base = 'before';
    this.set(items, cursor);
    this.follow();
    return how;
  }
  leave(): void {
    this.stop();
    for (const stop of this.stops) stop();
    this.closed = true;
  }

  // -- notices -------------------------------------------------------------------------------

  tell(kind: Notice['kind'], title: string, problem?: Problem | null, more = ''): void {
    const text = [problem?.message, problem?.next && `Next: ${problem.next}.`, more].filter(Boolean).join(' ');
    this.notices = [...this.notices.slice(-3), { key: keys++, kind, title, text }];
  }
  report(error: unknown): void {
    if (error instanceof Lost) return;
    if (error instanceof Refused && error.status === 404 && /session/.test(error.problem.message)) {
      this.closed = true;
      return;
    }
    if (error instanceof Refused) this.tell('error', 'The request failed:', error.problem);
    else this.tell('error', 'The request failed', null, String(error));
  }
  dismiss(key: number): void {
    this.notices = this.notices.filter((one) => one.key !== key);
  }

  /** The effect of a step on a cost: the difference from the state before. */
  change(node: Node | undefined, cost: string): number | null {
    if (!node || node.parent === null) return null;
    const before = this.nodes.get(node.parent)?.costs[cost];
    const after = node.costs[cost];
    return before === undefined || after === undefined ? null : after - before;
  }
  said(node: Node | undefined, cost: string): string {
    return signed(this.change(node, cost));
  }
}
