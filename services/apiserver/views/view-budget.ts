import { GenerationBudget, type GenerationLimits } from '../cache/generations.js';

/** 16 MB are the messages of 16,000 objects of 1 KB. Those not asked for in two minutes go. */
export const VIEW_LIMITS: GenerationLimits = { maxBytes: 16 << 20, turnMs: 60_000 };

/** Of what is kept of all views of all kinds: rows of tables and messages in Protobuf. */
export const VIEW_BUDGET = new GenerationBudget(VIEW_LIMITS);
