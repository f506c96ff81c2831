// The gallery's presentation: groups of scenes, the most interesting first; for each its title, and the paper that it
// is from. A scene not listed here is in the last group, under its own name.

const BROWN = 'Brown 2018',
    LIU = 'Liu 2017',
    NARAIN = 'Narain 2016',
    WANG = 'Wang 2016';

const GROUPS = {
    'Start here': {
        wrung_towel: ['A towel is wrung into a cord'],
        bowl_of_bodies: ['Balls and boxes fall into a bowl'],
        twisting_bar: ['A bar is twisted by more than half a turn', WANG, 'figure 11'],
        flag: ['A flag in strong wind', NARAIN, 'figure 4'],
        chain: ['Five soft rings hang in a chain'],
        live_puppet: ['A puppet to steer by hand, live'],
    },
    Cloth: {
        cloth_on_a_ball: ['A cloth falls over a ball', NARAIN, 'figure 4'],
        cloth_on_a_moving_body: ['A cloth on a soft ring that moves'],
        draped_cloth: ['Two cloths on balls, with friction and without', BROWN, 'figure 10'],
        folded_cloth: ['A cloth is folded like a fan'],
        folding_cloth: ['A cloth falls on its edge and folds'],
        cloth_of_6561: ['A cloth of 32,158 springs hangs from two corners', LIU, 'table I'],
        thin_sheet: ['A thin sheet of rubber falls over a ball', LIU, 'table I'],
    },
    'Ropes and knots': {
        tied_rope: ['A knot is pulled tight'],
        rope: ['An inextensible rope swings'],
    },
    'Bodies that collide': {
        falling_bodies: ['Blocks, balls and rings fall onto each other'],
        head_on_balls: ['Two balls meet head on'],
        lifted_ball: ['Two pads lift a ball by friction'],
        stacked_cubes: ['Five cubes come to rest in a tower'],
        card_house: ['Cards lean on each other'],
        terrain_slide: ['Three blocks slide down rough ground', BROWN, 'figure 1'],
        dropped_through_cylinders: ['A soft ball drops through cylinders', NARAIN, 'figure 5'],
        through_a_torus: ['A ball squeezes through a narrow ring', LIU, 'table I'],
        falling_box: ['A tumbling box bounces'],
        sphere_on_sphere: ['A soft ball lands on a sphere'],
        spinning_ball: ['A spinning ball bounces off to the side', BROWN, 'figure 5'],
        sliding_block: ['A block slides to rest', BROWN, 'figure 4'],
        leaning_blocks_02: ['Blocks lean on a wall, friction 0.2', BROWN, 'figure 9'],
        leaning_blocks_04: ['Blocks lean on a wall, friction 0.4', BROWN, 'figure 9'],
        leaning_blocks_06: ['Blocks lean on a wall, friction 0.6', BROWN, 'figure 9'],
    },
    'Twist, stretch and squeeze': {
        folding_bar: ['A bar is twisted until it throws a loop', LIU],
        untwist: ['A twisted box springs back', NARAIN, 'figures 2 and 6'],
        twisted_box: ['The same box, every frame converged'],
        stretched_box: ['A box is stretched to twice its length', WANG, 'figure 7'],
        compressed_box: ['A box is pressed to half its length', WANG, 'figure 10'],
        shaking_bar: ['A bar held at one end swings', LIU, 'table I'],
        recovers_from_collapsed: ['A ball recovers from a single point', NARAIN, 'figure 3'],
        recovers_from_random: ['A ball recovers from random positions', NARAIN, 'figure 3'],
        double_helix_1: ['A double helix, 1,700 vertices', WANG, 'figure 9'],
        double_helix_2: ['A double helix, 4,900 vertices', WANG, 'figure 9'],
        double_helix_3: ['A double helix, 9,700 vertices', WANG, 'figure 9'],
        double_helix_4: ['A double helix, 19,000 vertices', WANG, 'figure 9'],
    },
    'Materials and damping': {
        jiggling_head: ['A soft head on a shaken neck', LIU, 'table I'],
        spline_spheres: ['Balls of two spline materials bounce', LIU, 'table I'],
        anisotropic_cube: ['Fibres make a cube lean', LIU, 'section 4.4'],
        power_law_bodies: ['Boxes like clay, rubber and springs', BROWN, 'figure 11'],
        power_law_pendulum: ['Pendulums with three kinds of damping', BROWN, 'figure 3'],
        spline_damped_ball: ['Damping that depends on the strain', BROWN, 'figure 12'],
        spinning_beam_damped: ['A damped beam keeps its spin, or loses it', BROWN, 'figure 7'],
    },
    'Integrators compared': {
        swinging_cloth_tr_bdf2: ['A swinging sheet by TR-BDF2', BROWN, 'figure 2'],
        swinging_cloth_bdf2: ['A swinging sheet by BDF2', BROWN, 'figure 2'],
        swinging_cloth_backward_euler: ['A swinging sheet by backward Euler', BROWN, 'figure 2'],
        spinning_beam_tr_bdf2: ['A spinning beam by TR-BDF2', BROWN, 'figure 6'],
        spinning_beam_bdf2: ['A spinning beam by BDF2', BROWN, 'figure 6'],
        spinning_beam_backward_euler: ['A spinning beam by backward Euler', BROWN, 'figure 6'],
        convergence: ['A mass on a spring, against the exact solution', BROWN, 'figure 8'],
    },
};

const OTHER = 'More scenes';

// [{title, items: [{...item, title, source}]}] of the items of /v1/gallery.
export function groupsOf(items) {
    const left = new Map(items.map((item) => [item.name, item]));
    const groups = Object.entries(GROUPS).map(([title, scenes]) => ({
        title,
        items: Object.entries(scenes)
            .filter(([name]) => left.has(name))
            .map(([name, [words, ...source]]) => {
                const item = { ...left.get(name), title: words, source: source.join(', ') };
                left.delete(name);
                return item;
            }),
    }));
    return [...groups, { title: OTHER, items: [...left.values()] }].filter((group) => group.items.length > 0);
}
