import { SharedRun } from '../shared-run.js';
import type { Credential, Credentials } from '../credential.js';
import { CredentialError } from '../credential.js';
import type { ExecCredential } from './exec-credential.js';
import { readExecCredential } from './exec-credential.js';
import { findProgram } from './find-program.js';
import { redacted } from './redact.js';
import { oneLine, runProgram } from './run-program.js';

const TIMEOUT_MS = 60_000;
const MAX_HINT = 1024;

export interface ExecPlugin {
  /** With a slash: a path, relative to `directory`; else looked up in PATH. */
  readonly command: string;
  readonly directory: string;
  readonly args: readonly string[];
  /** Added to our own variables. */
  readonly env: Readonly<Record<string, string>>;
  /** Of what is exchanged with it. */
  readonly apiVersion: string;
  /** The variable that tells it what is wanted, and its value. */
  readonly info: { readonly variable: string; readonly value: string };
  readonly isInteractive: boolean;
  /** Shown when the program is missing. */
  readonly installHint: string;
  /** @default 60 000 */
  readonly timeoutMs?: number;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/**
 * The credentials of a program (spec 2, 5.8): kept until it expires or a server does not know it, or without expiry
 * until a server does not know it. All who ask at the same time share one run, which is killed when the last of them
 * leaves.
 */
export class ExecCredentials implements Credentials {
  readonly #plugin: ExecPlugin;
  readonly #now: () => number;
  readonly #run = new SharedRun((signal) => this.#ask(signal), { abandoned: 'ended' });
  #kept: { readonly credential: Credential; readonly expiresAtMs: number } | undefined;
  /** The last certificate that was given out. */
  #pair: ExecCredential['pair'];
  #certificateVersion = 0;

  constructor(plugin: ExecPlugin) {
    this.#plugin = plugin;
    this.#now = plugin.now ?? Date.now;
  }

  async current(signal: AbortSignal): Promise<Credential> {
    if (this.#kept !== undefined && this.#now() < this.#kept.expiresAtMs) return this.#kept.credential;
    return this.#run.join(signal);
  }

  refused(used: Credential): boolean {
    if (this.#kept?.credential === used) this.#kept = undefined; // a newer one has not been refused
    return true;
  }

  close(): void {
    this.#run.close();
  }

  async #ask(signal: AbortSignal): Promise<Credential> {
    const { command, apiVersion } = this.#plugin;
    try {
      const given = readExecCredential(await this.#output(signal), apiVersion);
      const credential = this.#credential(given);
      this.#kept = { credential, expiresAtMs: given.expiresAtMs };
      return credential;
    } catch (err) {
      if (!(err instanceof CredentialError) || err === signal.reason) throw err;
      throw new CredentialError(`credential plugin ${JSON.stringify(command)}: ${err.message}`);
    }
  }

  async #output(signal: AbortSignal): Promise<Buffer> {
    const { command, directory, args, isInteractive, timeoutMs = TIMEOUT_MS, installHint } = this.#plugin;
    const path = await findProgram(command, directory, process.env['PATH'] ?? '');
    if (path === undefined) {
      const hint = oneLine(installHint).slice(0, MAX_HINT);
      throw new CredentialError(`there is no such program that can be run${hint === '' ? '' : `: ${hint}`}`);
    }
    const { info, env: added } = this.#plugin;
    const env = { ...process.env, ...added, [info.variable]: info.value };
    const redact = (text: string): string => redacted(text, Object.values(added));
    return runProgram({ path, args, env, isInteractive, timeoutMs, redact }, signal);
  }

  #credential({ headers, pair }: ExecCredential): Credential {
    if (pair?.cert !== this.#pair?.cert || pair?.key !== this.#pair?.key) this.#certificateVersion++;
    this.#pair = pair;
    return { headers, ...pair, certificateVersion: this.#certificateVersion };
  }
}
