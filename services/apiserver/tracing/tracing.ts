import { hostname } from 'node:os';
import type { Log } from '../../machinery/log/log.js';
import { traceBy } from '../../machinery/tracing/trace.js';
import type { Vocabulary } from '../../machinery/vocabulary/vocabulary.js';
import { OpenTelemetry } from './open-telemetry.js';
import { tracingStages, type TracingStages } from './request-stages.js';
import { readTracingConfiguration } from './tracing-configuration.js';

export interface TracingDeps {
  readonly vocabulary: Vocabulary;
  /** `major.minor.patch` of the product. */
  readonly version: string;
  readonly log: Log;
}

export interface OpenedTracing {
  readonly stages: TracingStages;
  /** Nothing is traced any more; what was is sent. Never throws. */
  close(): Promise<void>;
}

/** Has this process traced as a file says. @throws {Error} In one line, for a file that cannot be used. */
export async function openTracing(file: string, { vocabulary, version, log }: TracingDeps): Promise<OpenedTracing> {
  const configuration = await readTracingConfiguration(file, vocabulary);
  const telemetry = new OpenTelemetry({ ...configuration, version, instance: `${hostname()}/${process.pid}`, log });
  traceBy(telemetry);
  return {
    stages: tracingStages(telemetry),
    close: async () => {
      traceBy(undefined);
      await telemetry.close();
    },
  };
}
