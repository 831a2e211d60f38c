import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Runs openssl on files in a directory of their own. A test without openssl fails. */
export class OpenSsl {
  readonly #dir = mkdtempSync(join(tmpdir(), 'openssl-'));

  /** @returns All that it prints. @throws {Error} With that, when it ends with another code than 0. */
  run(...args: readonly string[]): string {
    const { error, status, stdout, stderr } = spawnSync('openssl', args, { cwd: this.#dir, encoding: 'utf8' });
    if (error !== undefined) throw error;
    if (status !== 0) throw new Error(`openssl ${args.join(' ')}: ${stdout}${stderr}`);
    return `${stdout}${stderr}`;
  }

  /** @returns The name of the file. */
  write(name: string, content: string | Buffer): string {
    writeFileSync(join(this.#dir, name), content);
    return name;
  }

  read(name: string): Buffer {
    return readFileSync(join(this.#dir, name));
  }

  remove(): void {
    rmSync(this.#dir, { recursive: true, force: true });
  }
}
