import type { IncomingMessage } from 'node:http';
import { badRequest, notFound, REASONS, StatusError, type Reason } from '../../../machinery/meta/status.js';
import type { ResourceRequest } from '../../request/request.js';
import type { Operation, OperationVerbs } from '../../verbs/dispatch.js';
import { booleanParameter } from '../../http/query.js';
import type { OperationDeps } from '../operation.js';
import { ask } from './ask.js';
import { containerOf } from './containers.js';
import { agentOf } from './nodes.js';
import { objectOf, type PodParts } from './objects.js';
import { withConnection } from './proxy-request.js';
import { logQuery } from './queries.js';
import { relay } from './relay.js';
import { hostPort } from './target.js';

/** `pods/<name>/log`: what a container has written, as the agent of its node tells it. */
export const log = (d: OperationDeps): OperationVerbs => ({ get: readLog(d) });

const readLog =
  (d: OperationDeps): Operation =>
  async (ctx, request) => {
    const { namespace, name } = request;
    const { query } = ctx.state;
    const asked = logQuery(query, name);
    const pod = await objectOf<PodParts>(d, 'pods', namespace, name);
    const container = containerOf(pod, name, query.get('container') ?? '');
    const node = pod.spec?.nodeName ?? '';
    if (node === '') {
      ctx.status = 204; // it has not begun: nothing was written
      return;
    }
    const target = await agentOf(d, node, !booleanParameter(query, 'insecureSkipTLSVerifyBackend'));
    const path = `/containerLogs/${namespace}/${name}/${container}${asked === '' ? '' : `?${asked}`}`;
    const headers = { host: hostPort(target.host, target.port) };
    const { idleMs } = d.proxying.limits;
    await withConnection(d.proxying, ctx, target, async (connection) => {
      const release = d.proxying.streams.hold(() => connection.socket.destroy());
      try {
        const question = { method: 'GET', path, headers, body: undefined, answerMs: idleMs };
        const { answer } = await ask(connection, question);
        if (answer.statusCode !== 200) throw await refusal(answer, request);
        await relay(ctx, answer, { 'content-type': 'text/plain', 'cache-control': 'no-cache, private' });
      } finally {
        release();
      }
    });
  };

/** Longest text of an agent's failure, which is for people. */
const MOST_SAID_BYTES = 50_000;

async function refusal(answer: IncomingMessage, { name }: ResourceRequest): Promise<StatusError> {
  const text = await textOf(answer);
  const { statusCode = 500 } = answer;
  if (statusCode === 400) return badRequest(text);
  if (statusCode === 404) return notFound({ group: '', resource: 'pods/log' }, name);
  const reason = (Object.keys(REASONS) as Reason[]).find((it) => REASONS[it] === statusCode) ?? 'InternalError';
  const what = `an error on the server (${JSON.stringify(text)}) has prevented the request from succeeding`;
  return new StatusError(reason, what, { code: statusCode < 400 ? 502 : statusCode });
}

async function textOf(answer: IncomingMessage): Promise<string> {
  const parts: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const part of answer) {
      parts.push(part as Buffer);
      bytes += (part as Buffer).length;
      if (bytes >= MOST_SAID_BYTES) break;
    }
  } catch {
    // what came before it broke off is what there is to say
  }
  return Buffer.concat(parts).subarray(0, MOST_SAID_BYTES).toString('utf8');
}
