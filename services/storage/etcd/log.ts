/** Where the store tells what an operator should know. Messages are constant; what varies goes into `keys`. */
export interface StoreLog {
  info(message: string, keys: Readonly<Record<string, unknown>>): void;
  warn(message: string, keys: Readonly<Record<string, unknown>>): void;
  error(message: string, keys: Readonly<Record<string, unknown>>): void;
}
