//! What the entries of simulations and cars mean, with an example each.

/// What an entry means inside of a block.
pub(crate) fn about(key: &str, block: &str) -> Option<&'static str> {
    match block {
        "weather" => of_weather(key),
        "fixed" | "bound" => of_channel(key),
        "wheel_dist" | "brakes" | "actuators" | "front" | "back" | "cpu" => of_body(key, block),
        _ => of_simulation(key).or_else(|| of_public(key)).or_else(|| of_car(key)),
    }
}

fn of_simulation(key: &str) -> Option<&'static str> {
    Some(match key {
        "simulation" => "a simulation: a map, a step, a duration, and cars with their ways",
        "sim" => "a simulation in the spelling of the public simulators",
        "car" => "a car: its size, its controller, its sensors and its actuators",
        "map" => "the road map: `map = Street.osm;` reads `Street.road.toml` beside the simulation",
        "startTime" => {
            "date and time at which it starts: `startTime = 22.06.2017 13:30;` — the time is that of the light"
        }
        "deltaT" => "the step of time: `deltaT = 10ms;` — a list or a range `(10ms : 10ms : 50ms)` makes a family",
        "weather" => "`noRain`, `noSnow`, `rain`, `snow` or `ice`: what it makes of the road",
        "duration" => "how long it lasts: `duration = 30s;` — a list or a range makes a family",
        "cars" => "cars with their ways: `cars { PLATE: {start -> goal} }`; the first is the one under test",
        "seed" => "not honoured here: give `--seed` on the command line",
        "pedestrians" => "not honoured here: write the scenario as TOML",
        _ => return None,
    })
}

fn of_public(key: &str) -> Option<&'static str> {
    Some(match key {
        "sim_duration" => "how long it lasts: `sim_duration 30s;` — a list `[10s, 20s]` or a range makes a family",
        "sim_loop_frequency" => "the step of time, or how often in a second: `sim_loop_frequency 100Hz;`",
        "map_name" => "the road map: `map_name Street.osm;` reads `Street.road.toml` beside the simulation",
        "map_path" => "the folder of maps, below that of the simulation",
        "time" => "the time of day: `time 13:30;`, or several `[8:00, 20:00]`",
        "gravity" => "9.81 m/s² is all that can be honoured",
        "pedestrian" => "somebody on foot, over the road or along it: `pedestrian(0, -5)->(0, 5);`",
        "pedestrian_density" => "0 is all that can be honoured: name pedestrians one by one",
        "vehicle" => "a car: `vehicle car1(0, 0, 0)->(100, 0, 0) : Model;`, or how many without a name: `vehicle 100;`",
        "fixed" | "bound" => {
            "a channel for messages of other cars: `fixed channel LTE { latency 10ms; area global; };`"
        }
        "map_height" => "`flat` is all that can be honoured",
        "path" => "from where to where: `path (0, 0, 0)->(100, 0, 0);`",
        "goals" => "requirements: `goals [ always speed lt 10m/s ];`",
        "network" => "the channel that it uses",
        "sim_render_frequency"
        | "sim_type"
        | "map_overlap"
        | "map_sector_width"
        | "map_sector_height"
        | "max_sector_users"
        | "timeout" => "how other simulators draw and share out; without effect here",
        _ => return None,
    })
}

fn of_car(key: &str) -> Option<&'static str> {
    Some(match key {
        "dimension" => "length, width and height: `dimension = 4.43m, 1.93m, 1.25m;`",
        "visualModel" => "the picture of the car; it does not change how it drives",
        "weight" | "mass" => "the mass: `weight = 1'655 kg;`",
        "controller" => "the component that drives: `controller = LaneKeeping;`",
        "sensors" => "what the controller is told: `sensors { SpeedSensor => speed; }`, or `sensor_velocity;`",
        "actuators" => "what stands between controller and car: `actuators { s => SteeringFir4; }`, or its limits",
        "wheelbase" => "distance of the axles: `wheelbase = 2.7m;`",
        "maxSpeed" => "not honoured here: limit the speed in the controller",
        "width" | "length" => "size of the outline: `length = 4.43m;`",
        "height" | "wheel_radius" | "cpu" => "kept for people; it does not change how the car drives",
        "wheel_dist" => "where the wheels are: `wheel_dist { to_front = 1.4m; to_back = 1.5m; }`",
        "physics_model" => "`mass_point`: a car with tyres and a mass",
        _ => return None,
    })
}

fn of_weather(key: &str) -> Option<&'static str> {
    Some(match key {
        "precipitation_type" => "what lies on the road: `precipitation_type freezingrain;`",
        "clouding" => "clouds, which cover a low sun: `clouding stratus;`",
        "sight" => "how far sensors see at most: `sight 50m;`, a list, a range, or `unlimited`",
        "weather_phenomena" => "`fog`, together with `sight`; others are not simulated",
        "temperature"
        | "humidity"
        | "pressure"
        | "wind_strength"
        | "wind_direction"
        | "precipitation_amount"
        | "optical_phenomena"
        | "artificial_phenomena" => "without effect: weather is friction and sight",
        _ => return None,
    })
}

fn of_channel(key: &str) -> Option<&'static str> {
    Some(match key {
        "transfer_rate" => "messages in a second, or bits: `transfer_rate 10Hz;`, `transfer_rate 1Mbit/s;`",
        "latency" => "how long a message is under way: `latency 10ms;`",
        "outage" => "the share of messages that is lost: `outage 1%;`",
        "area" => "`global`, or of a bound channel how far it reaches: `area (0,0) 100m;`",
        _ => return None,
    })
}

fn of_body(key: &str, block: &str) -> Option<&'static str> {
    Some(match (block, key) {
        ("wheel_dist", "to_front" | "to_back") => "from the centre of mass to the axle",
        ("wheel_dist", "front" | "back") => "from the left wheel to the right one; kept for people",
        ("actuators", "motor") => {
            "acceleration: `motor = (-1.5 : 2.0 : 3.5);` is the least, the change in a second, the most"
        }
        ("actuators", "brakes") => "deceleration by each of the four brakes",
        ("actuators", "steering") => "angle of the wheels: `steering = (-0.78 : 0.5 : 0.78);`",
        ("brakes", "front" | "back") => "`front { left = (0 : 5 : 5); right = (0 : 5 : 5); }`",
        ("front" | "back", "left" | "right") => "least deceleration, change in a second, most",
        ("cpu", _) => "kept for people; it does not change how the car drives",
        _ => return None,
    })
}
