import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ShownEvent } from '../../../services/apiserver/audit/testing/gathering.js';
import { scratchDirectory } from '../../support/scratch.js';
import { eventually } from './objects.js';

export type { ShownEvent };

export const POLICY = {
  apiVersion: 'audit.platform.io/v1',
  kind: 'Policy',
  omitManagedFields: true,
  rules: [
    { level: 'None', nonResourceURLs: ['/readyz*'] },
    { level: 'RequestResponse', resources: [{ group: '', resources: ['configmaps', 'events'] }] },
    { level: 'Metadata' },
  ],
};

/** A directory with a policy, and what else a test puts there. */
export function place(policy: object = POLICY): {
  readonly dir: string;
  readonly policy: string;
  readonly log: string;
} {
  const dir = scratchDirectory();
  writeFileSync(join(dir, 'policy.yaml'), JSON.stringify(policy));
  return { dir, policy: join(dir, 'policy.yaml'), log: join(dir, 'log/audit.log') };
}

export const flagsFor = (at: { readonly policy: string; readonly log: string }, ...more: string[]): string[] => [
  `--audit-policy-file=${at.policy}`,
  `--audit-log-path=${at.log}`,
  ...more,
];

export const eventsIn = (file: string): ShownEvent[] =>
  readFileSync(file, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ShownEvent);

export const until = (holds: () => boolean): Promise<true> =>
  eventually(() => Promise.resolve(holds() ? true : undefined));
