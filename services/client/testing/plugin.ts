import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vocabulary } from '../../machinery/vocabulary/vocabulary.js';

/** A credential plugin that is a real program: a shell script that notes each run, and does what it is told to. */
export class TestPlugin {
  readonly directory = mkdtempSync(join(tmpdir(), 'client-plugin-'));
  readonly path = join(this.directory, 'plugin');

  constructor(script: string) {
    this.becomes(script);
  }

  /** @param script What it does from now on; `$DIR` is its directory. */
  becomes(script: string): void {
    writeFileSync(this.path, `#!/bin/sh\nDIR='${this.directory}'\necho "$*" >>"$DIR/runs"\n${script}\n`);
    chmodSync(this.path, 0o755);
  }

  /** It prints this. */
  prints(output: unknown): void {
    const text = typeof output === 'string' ? output : JSON.stringify(output);
    writeFileSync(join(this.directory, 'output'), text);
    this.becomes('cat "$DIR/output"');
  }

  /** The arguments of each run. */
  get runs(): string[] {
    const file = join(this.directory, 'runs');
    return existsSync(file) ? readFileSync(file, 'utf8').split('\n').slice(0, -1) : [];
  }

  read(name: string): string {
    return readFileSync(join(this.directory, name), 'utf8');
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** The output of a plugin. */
export const execCredential = (status: object, more: object = {}): object => ({
  apiVersion: `${vocabulary('platform').groups.clientAuthentication}/v1`,
  kind: 'ExecCredential',
  status,
  ...more,
});
