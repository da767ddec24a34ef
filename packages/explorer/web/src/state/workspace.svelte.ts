// SPDX-License-Identifier: MIT
// The state of the page: the server's description, and the open and displayed sessions.

import { api, Lost, Refused, whenLost } from '../api/client';
import type { Environment, Episode, NewSession, Problem, Server, Session } from '../api/schema';
import { Explored } from './session.svelte';
import { fragmentOf, short } from './words';

export type Dialog = 'none' | 'new' | 'open' | 'export' | 'help' | 'values';
type Theme = 'light' | 'dark';
const MOST_LETTERS = 500_000;

class Workspace {
  server = $state.raw<Server | null>(null);
  environments = $state.raw<Record<string, Environment>>({});
  sessions = $state.raw<Explored[]>([]);
  /** The displayed sessions, side by side; the first or second has the focus. */
  shown = $state.raw<string[]>([]);
  focus = $state(0);
  dialog = $state<Dialog>('none');
  connection = $state<'fine' | 'lost' | 'back' | 'refused'>('fine');
  problem = $state.raw<Problem | null>(null);
  opening = $state(false);
  /** Sessions on the server that no page shows, such as those of a closed browser. */
  left = $state.raw<Session[]>([]);
  theme = $state<Theme>('light');
  /** An episode without a program, to replay on the next chosen one. */
  waiting = $state.raw<Partial<Episode> | null>(null);
  /** The title of the session beside which the next one is shown. */
  beside = $state('');
  private begun = false;
  private opened = new Map<string, Explored>();

  get panels(): Explored[] {
    return this.shown.map((key) => this.opened.get(key)).filter((one) => one !== undefined);
  }
  get active(): Explored | undefined {
    return this.panels[this.focus] ?? this.panels[0];
  }

  async start(): Promise<void> {
    const wished = localStorage.getItem('compiler_gym.theme');
    this.setTheme(wished === 'dark' || (wished === null && matchMedia('(prefers-color-scheme: dark)').matches) ? 'dark' : 'light');
    whenLost(() => this.lost());
    addEventListener('popstate', (event) => {
      const key: string = event.state?.key ?? '';
      if (this.opened.has(key)) this.show(key);
      else if (location.hash.length <= 2) this.shown = [];
    });
    addEventListener('hashchange', () => {
      if (!this.opened.has(history.state?.key ?? '')) void this.openLink(location.hash);
    });
    // Close the session when the page is left: its URL reopens it.
    addEventListener('pagehide', (event) => {
      if (!event.persisted) for (const session of this.sessions) api.leave(session.id);
    });
    try {
      this.server = await api.server();
      await this.begin(this.server);
    } catch (error) {
      if (error instanceof Refused) {
        this.connection = 'refused';
        this.problem = error.problem;
      }
    }
  }
  /** Open the program of the URL or the command line, once the server has responded. */
  private async begin({ program, source, default_environment: environment }: Server): Promise<void> {
    if (this.begun) return;
    this.begun = true;
    if (location.hash.length > 2) await this.openLink(location.hash);
    else if (program || source) await this.open({ environment, benchmark: program, source });
    this.environment(environment).catch(() => {});
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    document.documentElement.dataset.theme = theme;
  }
  switchTheme(): void {
    this.setTheme(this.theme === 'dark' ? 'light' : 'dark');
    localStorage.setItem('compiler_gym.theme', this.theme);
  }

  async environment(id: string): Promise<Environment> {
    const known = this.environments[id];
    if (known) return known;
    const found = await api.environment(id);
    this.environments = { ...this.environments, [id]: found };
    return found;
  }

  /** Open a session and show it in the focused panel. */
  async open(asked: Partial<NewSession>, title = ''): Promise<boolean> {
    this.opening = true;
    this.problem = null;
    this.left = [];
    try {
      const session = await api.open(asked);
      const env = await this.environment(session.environment);
      const source = asked.source ?? asked.episode?.source ?? null;
      const name = title || source?.name || short(session.benchmark);
      const explored = new Explored(env, session, source, name);
      this.opened.set(session.id, explored);
      this.sessions = [...this.sessions, explored];
      if (this.beside && this.shown.length === 1) this.add(session.id);
      else this.show(session.id);
      this.leave();
      return true;
    } catch (error) {
      if (error instanceof Refused) {
        this.problem = error.problem;
        if (error.status === 429) await this.findLeft();
      } else if (!(error instanceof Lost)) throw error;
      return false;
    } finally {
      this.opening = false;
    }
  }
  private async findLeft(): Promise<void> {
    this.left = (await api.sessions()).sessions.filter((one) => !this.opened.has(one.id));
  }
  /** Close a session that no page shows. */
  async closeLeft(id: string): Promise<void> {
    await api.close(id).catch(() => {});
    await this.findLeft();
    if (!this.left.length) this.problem = null;
  }
  /** The URL of the current view, or empty if it would be too long. */
  async address(session: Explored): Promise<string> {
    const text = `${await fragmentOf(session.episode)}${session.shown}`;
    return text.length > MOST_LETTERS ? '' : text;
  }
  async openEpisode(episode: Partial<Episode>): Promise<boolean> {
    if (!episode.benchmark && !episode.source) {
      this.waiting = episode;
      this.dialog = 'new';
      return false;
    }
    return this.open({ episode: episode as Episode }, episode.source?.name ?? '');
  }
  async openLink(text: string): Promise<void> {
    if (!text.startsWith('#s1.')) return;
    try {
      const [link = '', ...rest] = text.split('&');
      const episode = (await api.read({ text: link })).episodes[0];
      if (episode && (await this.openEpisode(episode))) this.active?.show(new URLSearchParams(rest.join('&')));
    } catch (error) {
      if (error instanceof Refused) this.problem = error.problem;
    }
  }

  /** Close the dialog; what it was opened for does not wait for the next one. */
  leave(): void {
    this.dialog = 'none';
    [this.waiting, this.beside] = [null, ''];
    if (this.connection !== 'refused') [this.problem, this.left] = [null, []];
  }

  show(id: string): void {
    if (this.shown.includes(id)) this.focus = this.shown.indexOf(id);
    else if (this.shown.length === 0) this.shown = [id];
    else this.shown = this.shown.map((one, i) => (i === this.focus ? id : one));
  }
  /** Switch between one and two displayed sessions; choose a program for the second if there is none. */
  split(): void {
    if (this.shown.length > 1) {
      this.shown = this.shown.slice(this.focus, this.focus + 1);
      this.focus = 0;
      return;
    }
    const other = this.sessions.map((one) => this.keyOf(one)).find((one) => !this.shown.includes(one));
    if (other) this.add(other);
    else {
      this.beside = this.active?.title ?? '';
      this.dialog = 'new';
    }
  }
  private add(id: string): void {
    this.shown = [...this.shown, id];
    this.focus = 1;
  }
  keyOf(session: Explored): string {
    for (const [key, one] of this.opened) if (one === session) return key;
    return '';
  }
  async close(session: Explored): Promise<void> {
    const key = this.keyOf(session);
    session.leave();
    this.opened.delete(key);
    this.sessions = this.sessions.filter((one) => one !== session);
    const rest = this.shown.filter((one) => one !== key);
    const next = this.sessions.map((one) => this.keyOf(one)).find((one) => !rest.includes(one));
    this.shown = rest.length ? rest : next ? [next] : [];
    this.focus = 0;
    try {
      await api.close(session.id);
    } catch {
      // Ignore errors: the server closes idle sessions anyway.
    }
  }

  private lost(): void {
    if (this.connection === 'lost') return;
    this.connection = 'lost';
    void this.reconnect();
  }
  private async reconnect(): Promise<void> {
    for (let wait = 400; this.connection === 'lost'; wait = Math.min(wait * 1.5, 4000)) {
      await new Promise((done) => setTimeout(done, wait));
      try {
        this.server = await api.server();
        await this.begin(this.server);
        for (const session of this.sessions)
          if ((await session.recover()) === 'opened')
            session.tell('info', 'Session reopened', null, 'The server was restarted; the sequence was replayed.');
        this.connection = 'back';
        setTimeout(() => (this.connection = this.connection === 'back' ? 'fine' : this.connection), 2500);
      } catch (error) {
        if (error instanceof Refused) {
          this.connection = 'refused';
          this.problem = error.problem;
        }
      }
    }
  }
}

export const workspace = new Workspace();
