import { generateName } from '../../machinery/meta/random.js';
import { alreadyExists, hasReason, StatusError } from '../../machinery/meta/status.js';
import type { Context } from '../request/request.js';
import type { Written } from '../registry/writer.js';
import { answerWritten } from './answers.js';
import { fieldManager, dryRunParameter } from './parameters.js';
import type { VerbDeps, VerbHandler } from './types.js';
import { write, type Write } from './write.js';

/** How often a name is generated anew when another object has it. */
const NAME_ATTEMPTS = 8;

export const create =
  (deps: VerbDeps): VerbHandler =>
  async (ctx, request, served) => {
    const dryRun = dryRunParameter(ctx.state.query);
    const by = fieldManager(deps, ctx, request, 'CreateOptions');
    const body = await deps.bodies.object(ctx, served);
    const { name = '', generateName: base = '' } = body.metadata;
    const named = (chosen: string): Write => ({
      request: { ...request, name: chosen },
      served,
      by,
      dryRun,
      isNew: true,
      wanted: (present) => {
        if (present !== undefined) throw alreadyExists(served.stored.hub, chosen);
        const object = body.take();
        object.metadata.name = chosen;
        return { object };
      },
    });
    const isGenerated = name === '' && base !== '';
    const written = isGenerated ? await generated(deps, ctx, base, named) : await write(deps, ctx, named(name));
    await answerWritten(ctx, served, written);
  };

/** Tries names until one is free. @throws {StatusError} AlreadyExists after 8 attempts */
async function generated(
  deps: VerbDeps,
  ctx: Context,
  base: string,
  named: (chosen: string) => Write,
): Promise<Written> {
  for (let attempt = 1; ; attempt++) {
    const name = generateName(base);
    try {
      const written = await write(deps, ctx, named(name));
      ctx.state.audit?.named(name);
      return written;
    } catch (err) {
      if (!hasReason(err, 'AlreadyExists')) throw err;
      if (attempt === NAME_ATTEMPTS) throw noFreeName(err);
    }
  }
}

const noFreeName = (cause: unknown): StatusError =>
  new StatusError('AlreadyExists', 'The server was not able to generate a unique name for the object', {
    cause,
    details: { retryAfterSeconds: 1 },
  });
