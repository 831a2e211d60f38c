import { redactedUrl } from '../../machinery/log/redact.js';
import { asStatus } from '../pipeline/exchange-stages.js';
import type { Context, RequestInfo, Stage } from '../request/request.js';
import { nowMs, type OpenTelemetry } from './open-telemetry.js';

/** Users of these groups decide by the headers of their requests what is traced. */
const TRUSTED: readonly string[] = ['system:masters', 'system:monitoring'];

export interface TracingStages {
  /** Around authentication: who is not known is traced, too. */
  readonly begin: Stage;
  /** Around all that comes when it is known who asks. */
  readonly request: Stage;
}

export function tracingStages(telemetry: OpenTelemetry): TracingStages {
  const beganMs = new WeakMap<Context, number>();
  const follow = (ctx: Context, work: () => Promise<void>): Promise<void> => {
    const startedMs = beganMs.get(ctx) ?? nowMs();
    beganMs.delete(ctx);
    return telemetry.request({ ...described(ctx), startedMs }, work, (err) =>
      err === undefined ? ctx.status : asStatus(err).code,
    );
  };
  return {
    begin: async (ctx, next) => {
      beganMs.set(ctx, nowMs());
      try {
        await next();
      } catch (err) {
        if (!beganMs.has(ctx)) throw err;
        // It was refused before it got further.
        await follow(ctx, () => {
          throw err;
        });
      }
    },
    request: (ctx, next) => follow(ctx, next),
  };
}

function described({ req, method, state }: Context): Omit<Parameters<OpenTelemetry['request']>[0], 'startedMs'> {
  const { info } = state;
  const groups = (state.impersonator ?? state.user).groups;
  return {
    name: `${method} ${shapeOf(info)}`,
    isTrusted: groups.some((group) => TRUSTED.includes(group)),
    headers: req.headers,
    attributes: {
      'http.request.method': method,
      'url.path': redactedUrl((req.url ?? '').replace(/\?.*/s, '')),
      'user_agent.original': req.headers['user-agent'] ?? '',
      'network.protocol.version': req.httpVersion,
      ...(info.kind === 'resource' ? { verb: info.verb, resource: info.resource, subresource: info.subresource } : {}),
    },
  };
}

/** A path without the names of objects, of which there are many. */
function shapeOf(info: RequestInfo): string {
  if (info.kind === 'path') return /^\/[\w.-]{0,64}/.exec(info.path)?.[0] ?? '/';
  const { group, version, namespace, resource, name, subresource, declaration } = info;
  if (declaration === undefined) return '/{unknown}';
  const parts = [
    ...(group === '' ? ['api', version] : ['apis', group, version]),
    ...(namespace === '' ? [] : ['namespaces', '{:namespace}']),
    resource,
    ...(name === '' ? [] : ['{:name}']),
    ...(subresource === '' ? [] : [subresource]),
  ];
  return `/${parts.join('/')}`;
}
