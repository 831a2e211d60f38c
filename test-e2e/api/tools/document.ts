/** Metadata as tests read it. */
export interface Metadata {
  readonly [key: string]: unknown;
  readonly name: string;
  readonly namespace: string;
  readonly generateName?: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly creationTimestamp: string | null;
  readonly deletionTimestamp?: string;
  readonly deletionGracePeriodSeconds?: number;
  readonly generation?: number;
  readonly labels?: Record<string, string>;
  readonly annotations?: Record<string, string>;
  readonly finalizers?: string[];
  readonly continue?: string;
  readonly remainingItemCount?: number;
}

/** What an answer says: an object, a list or a Status. A test reads the members it expects, so none is optional here. */
export interface Document {
  readonly [key: string]: unknown;
  readonly kind: string;
  readonly apiVersion: string;
  readonly metadata: Metadata;
  readonly items: readonly Document[];
  readonly data: Record<string, string>;
  readonly spec: Record<string, unknown>;
  readonly status: unknown;
  readonly reason: string;
  readonly message: string;
  readonly code: number;
  readonly details: {
    readonly name?: string;
    readonly kind?: string;
    readonly group?: string;
    readonly uid?: string;
    readonly retryAfterSeconds?: number;
    readonly causes?: readonly { readonly reason: string; readonly field: string; readonly message: string }[];
  };
}

export type EventType = 'ADDED' | 'MODIFIED' | 'DELETED' | 'BOOKMARK' | 'ERROR';

export interface WatchEvent {
  readonly type: EventType;
  readonly object: Document;
}

export const namesIn = (list: Document): string[] => list.items.map((item) => item.metadata.name);
