"""Words that may name a team, a project or a person, and mean something ordinary everywhere else.

Frequent words of four letters and more, shared by at least four of six collections on different
subjects (software, parliament, private talk, aerodynamics ...), and words teams are often named.
"""

HONORIFICS = frozenset(
    {
        "dame", "dr", "fr", "hon", "miss", "mr", "mrs", "ms", "mx", "prof", "professor",
        "rev", "rt", "sir", "sr", "the",
    }
)  # fmt: skip

COMMON_WORDS = frozenset(
    """
    ability able about above absence absolute absolutely abstract accept acceptable accepted
    access accessible according account accounts accuracy accurate achieve achieved across
    action actions active actively activities activity actual actually added adding addition
    additional address addressed addressing admin adopt adopted adoption advance advanced
    advantage advantages advice affect affected affecting after again against agent agents agree
    agreed agreement agrees ahead ai align all allocation allow allowed allowing allows almost
    alone along alpha already also alternative although always amazing among amount amounts
    analysis analytics another answer anyone anything anyway anywhere api app appear appears
    applicable application applications applied applies apply applying appreciate appreciated
    approach approaches appropriate approximate approximately approximation apps arbitrary
    architecture archive area areas aren argument arguments arise around art aside asked asking
    aspect aspects assets assist assistance associated assume assumed assuming assumption
    assumptions attached attack attempt attendees attention audio audit auth author authors
    automatic automation availability available average avoid aware awareness away back backend
    background backlog backup balance base based basic basis beautiful became because become
    becomes becoming been before beginning behavior behaviour behind being believe below benefit
    best beta better between beyond bigger biggest billing binary bits black block blocks blog
    board bodies body books bot both bound boundary bounds branch brand break breaking breaks
    bridge brief briefly bring bringing brings broad broken brought browser budget build
    building built bunch business busy cache calculated calculation calculations calendar call
    called calling calls came campaign cannot capability capacity care careful carefully carry
    case cases catalog catch category cause caused causes causing center certain certainly chain
    chair chairs challenge challenges challenging chance change changed changes changing channel
    channels character characters chat check checked checking checks child children choice
    choices choose chose chosen circumstances clarify clarity class classes clean clear clearly
    client clients close closed closely closer cloud code collection combination combined come
    comes comfortable coming comments commitment committed committee common commons communicate
    communication communities community company compare compared comparison comparisons compiler
    complete completed completely complex complexity compliance complicated component components
    computation computed computer concept concepts concern concerned concerns conclusion
    condition conditions conference confidence confident config configuration confirm conflict
    connect connected connection consider consideration considerations considered considering
    consistent console constant constraints construct construction contact contain contains
    content context continue continued continuing contribute contribution contributions control
    convenient conversation conversations convinced cool core corner correct correctly
    corresponding cost costs could couldn count counter country couple course cover coverage
    covered covers create created creating creation creative criteria critical cross crucial
    current currently curve customer customers cycle dashboard data database date days deal
    dealing decide decided decision decisions deck dedicated deep deeply define defined defining
    definitely definition degree delivery demand demo depend dependent depending depends deploy
    deployment derived describe described describes describing description design designed
    desired desktop despite detail detailed details determination determine determined
    determining dev develop developed developer developing development devices devops didn
    difference differences different differential difficult difficulties difficulty digital
    direct direction directly disagree discovered discovery discuss discussed discussing
    discussion display distance distinct distributed distribution docs document documentation
    documents does doesn doing done door double doubt down draw drawing drive driving drop
    during dynamic each earlier early ease easier easily easy ecosystem edge education effect
    effective effectively effects efficient effort efforts eight either element elements else
    elsewhere email empty enable enables encourage encouraged encouraging ended ends energy
    engine engineering enjoy enough ensure entering enterprise entire entirely entry environment
    environments equal equation equivalent error errors escape especially essential essentially
    establish established evaluate evaluated evaluating evaluation even event events eventually
    ever every everyone everything everywhere evidence exact exactly example examples excellent
    except excited exercise exist existing exists expand expanded expanding expansion expect
    expectations expected expensive experience experienced experiences experiment experimental
    experiments explain explained explanation explicit explicitly explore explored exploring
    exposed express expressed expressing expression expressions extend extended extending
    extension extensions extensive extent external extra extremely eyes face facilities facing
    fact factor factors failed fails failure fair fairly fall familiar family fashion fast
    faster feature features feed feedback feel feeling feelings feels felt field fields figure
    file files fill filled final finally finance financial find finding fine finish finished
    finite first fits five fixed fixing flag flexibility flexible flight floor flow flows focus
    focused focusing folks follow followed following follows food force forced forces forever
    forget form formal format forms forth forward found foundation four fourth frame framework
    free freedom frequently friends from front frontend full fully function functions
    fundamental further future gain game games gave general generally generate generated
    generation generator generic gets getting give given gives giving glad global go goal goals
    goes going gone good government graph great greater greatly green ground group groups grow
    growing growth guess guidance guide guidelines half hand handle handled handling hands
    happen happened happening happens happy hard hardware hasn have haven having head health
    healthy hear heard hearing heart held help helped helpful helping helps here hidden high
    higher highlight highly historical history hold holding holds home hope hopefully hoping
    hour hours however hr hub huge human idea ideal ideas identified identify identity image
    imagine immediate immediately impact implement implementation implemented implementing
    implications implicit importance important impossible improve improved improvement
    improvements improving inbox include included includes including inclusion incorrect
    increase increased increases increasing incredibly indeed independent index indicate
    indicated indicates individual individuals industry infinite influence info information
    infra infrastructure initial initially inner innovation input inside insights inspired
    instance instead instructions integrated integration integrations intended interaction
    interest interested interesting interests interface intermediate internal internally
    international internet interpretation into introduce introduced introducing introduction
    investigated investigation invite involve involved involves involving issue issues it item
    items iteration itself jobs join joined joining journal journey jump just keep keeping keeps
    kept kernel keys kind kinds kit know knowing knowledge known knows lab labs lack language
    languages large largely larger last late later latest latter launch lead leadership leading
    leads learn learned learning least leave leaves leaving left legal length less letter
    letting level levels library life lift light like likely limit limited limiting line linear
    lines link linked linux list listening little live lives living load loader loads local
    location log logging logistics long longer look looked looking looks loop lose losing loss
    lost lots love lower machine made mail main mainly maintain maintained maintaining major
    make makes making manage managed management manner many map market marketing massive match
    matching material matrix matter matters maximum maybe mean meaning meaningful means meant
    measure measured measurements measures mechanism mechanisms media medium meet meeting
    meetings members memory mental mention mentioned message messages method methods metrics
    middle might migration million mind mine minimum minor minute minutes miss missed missing
    mixed mobile mode model models modified moment moments money monitor monitoring month months
    more morning most motion motivation move moved moves moving much multiple music must myself
    name named names narrow native natural nature near nearly necessarily necessary need needed
    needs negative neither network networking never news next nice night nodes none normal
    normally note noted notes nothing noticed notion number numbers numerical object objects
    observed obtain obtained obvious obviously occur occurs offer offers office official often
    okay onboarding once ones ongoing online only onto open opened opening operate operating
    operation operations operators opinion opportunities opportunity opposed opposite ops option
    options order ordering orders ordinary organization organizations original originally other
    others otherwise ourselves outlined output outside over overall package packaging page paid
    pair paper parallel parameter parameters parent parser part partial participating particular
    particularly partner partners parts party pass passed past path paths pattern patterns
    paying payment payments people perfect perfectly perform performance performed performing
    perhaps period person personal perspective phase phone physical pick picked picture piece
    pieces place placed places plan plane planned planning plans plate platform platforms play
    playing plugin plus point pointed points policy portal portion position positions positive
    possibilities possibility possible possibly post posted potential potentially power powerful
    practical practice precise precisely prefer prepare prepared presence present presentation
    presented presents press pressure pretty prevent previous previously pricing primarily
    primary principle print prior priority privacy probably problem problems procedure proceed
    process processes processing produce produced producing product production products profile
    program programming programs progress project projects promise promote proof proper properly
    properties property proposal proposals proposed proposes prototype proud provide provided
    provides providing public publish published purchasing pure purely purpose purposes pursue
    push pushed pushing puts putting quality query question questions quick quickly quite quote
    raise raised raising random range rate rates rather ratio reach reached reaching read
    reading ready real reality realize realized really reason reasonable reasonably reasons
    receive received recent recently recognize recognized recommend recommendation recommended
    record recovery recruiting reduce reduced reducing reduction refer reference references
    referred reflect reflection regard regarding regardless region regions registry regular
    rejected related relation relationship relationships relative relatively release releases
    relevant reliability reliable rely remain remaining remains remember remind reminder remove
    removed replacement reply report reported reporting reports represent representation
    represented representing represents request requested requests require required requirement
    requirements requires requiring research resolution resource resources respect respond
    response responsibility rest restricted restrictions result resulting results review
    reviewed reviews right rights risk risks road roadmap role roll room root rough roughly
    round route router routine rule rules running runs runtime safe safety said sales same
    sample satisfy satisfying save says scale schedule schema scheme school science scope screen
    search second secondary section sections secure security seeing seem seemed seems seen send
    sending sense sent separate separately separation series serious seriously serve server
    service services session sets setting settings several shape share shared shares sharing
    shell shop short should shouldn show showed showing shown shows side sides sign signed
    significant significantly similar similarly simple simpler simplify simply since single site
    sitting situation situations size skills slightly slow slowly small smaller social software
    solid solution solutions solve solved solving some someone something sometimes somewhat
    somewhere soon sorry sort sorts sound sounds source sources space speak speaking spec
    special specific specifically specification specified specify speed spend spending spent
    split spoke spot spread sprint stability stable stack staff stage stages staging stand
    standard standards standing stands start started starting starts state stated statement
    statements states static status stay staying step steps stick still stop storage store
    stories story straight strategies strategy stream strength stress strictly strong stronger
    strongly structure structured structures struggling stuck students studies studio study
    studying stuff style subject substantial success successful successfully such sufficient
    sufficiently suggest suggested suggestion suggestions suggests suitable summary summer
    supply support supported supporting supportive supports supposed sure surface surprised
    survey switch symbol sync system systems table tables tackle tags take taken takes taking
    talent talk talked talking target task tasks teach teaching team teams tech technical
    technique techniques technology tell telling temperature template tend term terms test
    tested testing tests text than thank thanks that their them themselves then theoretical
    theory there therefore these they thing things think thinking third this those though
    thought thoughts three through throughout throw thus time times title today together token
    told tomorrow took tool tooling tools topic topics total totally touch tough toward towards
    track tracking traffic training transfer transformation transition transport travel treat
    treated treatment tree triage tried trip trouble true truly trust trying turn turned turning
    turns twice type types typical typically ultimately under underlying understand
    understanding understood unfortunately uniform unique unit unknown unlikely unnecessary
    until update updated updates updating upon used useful user users uses using usual usually
    valid valuable value values variable variables variation variety various verification
    version versions versus very video view views virtual vision voice volunteer wait waiting
    walk walking wall want wanted wanting wants wasn watch watching water wave ways weak web
    website week weekend weekly weeks weight welcome well went were weren what whatever when
    whenever where whereas whether which while white whole whose wide wider will willing wind
    window windows wish with within without wonder wonderful wondering word words work worked
    workers workflow workflows working works world worry worse worth would wouldn wrapping write
    writing written wrote year years yesterday yield young your yourself zero zone
    """.split()  # noqa: SIM905  # a table, not code
)
"""Folded. As a name such a word counts only where it is written with the name's own capital."""
