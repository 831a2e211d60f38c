import tseslint from 'typescript-eslint';

/** An object has members that nobody put there (`constructor`, `__proto__`), and they are found by whoever names them. */
const TABLES = {
  selector:
    "VariableDeclarator[init.type='ObjectExpression'][init.properties.length>0] > Identifier.id TSTypeReference[typeName.name='Record'] > TSTypeParameterInstantiation > TSStringKeyword:first-child",
  message: 'A table that is looked up by any string is a Map: new Map(Object.entries({ ... })).',
};

export default tseslint.config(
  { ignores: ['dist/**', 'node_modules/**', 'coverage/**', '.cache/**', 'services/machinery/types/generated/**'] },
  {
    files: ['services/**/*.ts', 'test-e2e/**/*.ts'],
    extends: [...tseslint.configs.strictTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      '@typescript-eslint/consistent-type-imports': 'error',
      '@typescript-eslint/explicit-module-boundary-types': 'error',
      '@typescript-eslint/switch-exhaustiveness-check': ['error', { considerDefaultExhaustiveForUnions: true }],
      '@typescript-eslint/restrict-template-expressions': ['error', { allowNumber: true, allowBoolean: true }],
      '@typescript-eslint/no-confusing-void-expression': ['error', { ignoreArrowShorthand: true }],
      '@typescript-eslint/no-unused-vars': ['error', { ignoreRestSiblings: true, argsIgnorePattern: '^_' }],
      'no-console': 'error',
      'no-restricted-syntax': ['error', TABLES],
    },
  },
  {
    files: ['services/**/*.test.ts', 'services/**/contract/*.ts', 'test-e2e/**/*.ts'],
    rules: { '@typescript-eslint/no-non-null-assertion': 'off' },
  },
  {
    files: ['services/**/*.test.ts', 'services/**/contract/*.ts', 'services/**/testing/*.ts', 'test-e2e/**/*.ts'],
    rules: { 'no-restricted-syntax': 'off' },
  },
);
