import type { ResourceDeclaration } from '../../machinery/types/declarations.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { addWarnings } from '../http/warnings.js';
import type { DeprecatedApiMetrics } from '../metrics/deprecated-apis.js';
import { annotate, type Stage } from '../request/request.js';

/** Warns the client of a deprecated version, whatever becomes of its request (spec 1, 9.2). */
export const warnOfDeprecation: Stage = (ctx, next) => {
  const { info } = ctx.state;
  if (info.kind === 'resource' && info.declaration?.deprecated !== undefined) {
    addWarnings(ctx, [deprecationWarning(info.declaration)]);
  }
  return next();
};

/** Tells who scrapes and the audit that a deprecated version is in use (spec 1, 9.2). */
export const deprecation =
  ({ deprecatedAnnotation, removedReleaseAnnotation }: Vocabulary, metrics: DeprecatedApiMetrics): Stage =>
  (ctx, next) => {
    const { info } = ctx.state;
    if (info.kind === 'path' || info.declaration?.deprecated === undefined) return next();
    const { declaration, subresource } = info;
    metrics.requested(declaration, subresource);
    annotate(ctx.state, {
      [deprecatedAnnotation]: 'true',
      ...(declaration.removed === undefined ? {} : { [removedReleaseAnnotation]: declaration.removed }),
    });
    return next();
  };

/** e.g. `batch/v1beta1 CronJob is deprecated in v1.21+, unavailable in v1.25+; use batch/v1 CronJob` */
export function deprecationWarning(d: ResourceDeclaration): string {
  const version = d.group === '' ? d.version : `${d.group}/${d.version}`;
  const gone = d.removed === undefined ? '' : `, unavailable in v${d.removed}+`;
  const instead = d.replacement === undefined ? '' : `; use ${d.replacement} ${d.kind}`;
  return `${version} ${d.kind} is deprecated in v${d.deprecated ?? ''}+${gone}${instead}`;
}
