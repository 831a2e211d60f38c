import { randomBytes } from 'node:crypto';
import { builtInTypes } from '../client/rest/built-in-types.js';
import type { ApiClient } from '../client/rest/client.js';
import type { Vocabulary } from '../machinery/vocabulary/vocabulary.js';

const OK = 200;
/** Of what goes into an error when a server is not ready. */
const MOST_TOLD = 500;

/**
 * Asks whether a server is ready, and writes, reads and deletes a config map.
 *
 * @throws {Error} In one line that says what did not go well.
 */
export async function checkServer(
  client: Pick<ApiClient, 'raw' | 'resource'>,
  o: { readonly vocabulary: Vocabulary; readonly namespace: string },
  signal: AbortSignal,
): Promise<void> {
  const { status, body } = await client.raw({ method: 'GET', path: '/readyz' }, signal);
  if (status !== OK) throw new Error(`/readyz answered ${status}: ${body.toString().slice(0, MOST_TOLD)}`);
  const configMaps = client.resource(builtInTypes(o.vocabulary).configMaps);
  const name = { namespace: o.namespace, name: `check-${randomBytes(6).toString('hex')}` };
  const data = { written: new Date().toISOString() };
  await configMaps.create({ metadata: name, data }, {}, signal);
  try {
    const read = await configMaps.get(name, signal);
    if (read.data?.['written'] !== data.written) throw new Error('What was read is not what was written');
  } finally {
    await configMaps.delete(name, {}, signal);
  }
}
