import tseslint from 'typescript-eslint';
import importX from 'eslint-plugin-import-x';
import { createTypeScriptImportResolver } from 'eslint-import-resolver-typescript';

/** What each room may not reach into: imports go down only (docs/adr/0001). */
const forbid = (...groups) => ({
  'no-restricted-imports': [
    'error',
    {
      patterns: groups.map((group) => ({
        group: [group],
        message: 'Imports go down only: machinery <- storage, client <- apiserver, controllers <- all-in-one.',
      })),
    },
  ],
});
const upper = ['**/apiserver/**', '**/all-in-one/**', '**/controllers/**', '**/controller-manager/**', '**/cli/**'];

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'coverage/**', '.cache/**'] },
  {
    files: ['services/**/*.ts', 'test-e2e/**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    plugins: { 'import-x': importX },
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    settings: {
      'import-x/parsers': { '@typescript-eslint/parser': ['.ts'] },
      'import-x/resolver-next': [createTypeScriptImportResolver()],
    },
    rules: {
      'import-x/no-cycle': 'error',
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
      'no-console': 'error',
    },
  },
  {
    files: ['services/**/*.test.ts', 'services/**/contract/*.ts', 'test-e2e/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  { files: ['services/machinery/**/*.ts'], rules: forbid('**/storage/**', '**/client/**', ...upper) },
  { files: ['services/storage/**/*.ts'], rules: forbid('**/client/**', ...upper) },
  { files: ['services/client/**/*.ts'], rules: forbid('**/storage/**', ...upper) },
  {
    files: ['services/apiserver/**/*.ts'],
    rules: forbid('**/all-in-one/**', '**/controllers/**', '**/controller-manager/**', '**/cli/**'),
  },
);
