// The pages that are made of files, in the order of the navigation. Each file of clients/docs is here.
// A row: the file, and where they differ from the file's the name of the page and its title.
export const groups = [
    {
        title: 'Start',
        files: [
            ['clients/docs/README.md', 'index', 'Documentation'],
            ['clients/docs/getting-started.md'],
        ],
    },
    {
        title: 'Write a scene',
        files: [
            ['clients/docs/writing-a-scene.md'],
            ['clients/docs/scene.md'],
            ['clients/docs/materials.md'],
            ['clients/docs/meshes.md'],
            ['clients/docs/choosing.md'],
            ['clients/docs/methods.md'],
            ['clients/docs/typical-scenes.md'],
        ],
    },
    { title: 'Reference', files: [] },
    { title: 'Gallery', files: [] },
    {
        title: 'Run and look',
        files: [
            ['clients/docs/dashboard.md'],
            ['clients/docs/command-line.md'],
            ['clients/docs/sweeps.md'],
            ['clients/docs/other-programs.md'],
            ['clients/docs/exports.md'],
            ['clients/docs/troubleshooting.md'],
        ],
    },
    {
        title: 'Clients',
        files: [
            ['clients/docs/python.md'],
            ['clients/python/README.md', 'python-package', 'The Python package'],
            ['clients/docs/http.md'],
            ['clients/blender/README.md', 'blender'],
        ],
    },
    {
        title: 'Operate',
        files: [
            ['deploy/README.md', 'deploy', 'Installing and running'],
            ['deploy/packages.md'],
            ['deploy/containers.md'],
            ['deploy/operating.md'],
            ['deploy/batch/README.md', 'batch', 'Sessions on a cluster'],
            ['.github/SECURITY.md', 'security'],
            ['deploy/CHANGELOG.md', 'changelog'],
        ],
    },
    {
        title: 'Inside',
        files: [
            ['clients/docs/architecture.md'],
            ['protocol/README.md', 'protocol', 'Protocol'],
            ['deploy/LICENSES.md', 'licences'],
        ],
    },
];
