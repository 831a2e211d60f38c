/** What `--admission-control-config-file` says to one plugin. */
export interface PluginDocument {
  /** The file that it is in; relative paths in it start at its directory. */
  readonly file: string;
  /** The parsed document. */
  readonly value: unknown;
  /**
   * An error in one line that names the file, and the line of a member.
   *
   * @param path The names and indexes that lead to the member.
   */
  error(path: readonly (string | number)[], why: string): Error;
}
