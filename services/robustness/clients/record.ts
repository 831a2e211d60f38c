import { ApiError } from '../../client/rest/client.js';
import type { Live } from '../../client/rest/resource-type.js';
import type { ConfigMap } from '../../machinery/types/generated/core.v1.js';
import type { OperationLine, Seen } from '../history/lines.js';
import { bodyOf, isOurs, versionOf, type Scene } from './scene.js';

/** What is known of an operation before it is answered. */
export type Asked = Pick<OperationLine, 'id' | 'client' | 'verb' | 'ns' | 'name'> &
  Partial<Pick<OperationLine, 'sent' | 'token' | 'ifRv' | 'ifUid' | 'read' | 'selector' | 'limit'>>;

/** What was answered. */
export interface Answered {
  readonly code: number;
  readonly object?: Live<ConfigMap> | undefined;
  readonly items?: readonly Live<ConfigMap>[];
  /** Of a list. */
  readonly rv?: number;
  /** Of a refusal, or why there is no answer. */
  readonly reason?: string;
}

/** Does an operation, and writes down what became of it. What throws is an answer as well, or none. */
export async function recorded(
  { recorder }: Pick<Scene, 'recorder'>,
  asked: Asked,
  work: () => Promise<Answered>,
): Promise<Answered> {
  const start = recorder.now();
  const answer = await work().catch(failed);
  const end = recorder.now();
  const seen = seenOf(answer).map((it): Seen => recorder.seen(asked.ns, it.metadata.name, versionOf(it), bodyOf(it)));
  const { code, rv, reason } = answer;
  recorder.write({
    t: 'op',
    ...asked,
    start,
    end,
    code,
    ...(reason === undefined ? {} : { reason }),
    ...(rv === undefined ? {} : { rv }),
    ...(seen.length > 0 || answer.items !== undefined ? { seen } : {}),
  });
  return answer;
}

const seenOf = ({ object, items = [] }: Answered): readonly Live<ConfigMap>[] =>
  (object === undefined ? items : [object]).filter(isOurs);

const MOST_REASON = 160;

function failed(err: unknown): Answered {
  if (err instanceof ApiError) return { code: err.code, reason: err.reason };
  return { code: 0, reason: String(err).slice(0, MOST_REASON) };
}
